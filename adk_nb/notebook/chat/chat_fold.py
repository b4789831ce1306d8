"""`ChatFold`: what a chat shows of its conversation, folded from events, one happening at a time.

Pure and incremental, as `RunFold` is for one run: plain JSON, the same for a live box in batches, a saved page and a
printed conversation. A reply that streams is told piece by piece, so that a long one isn't sent again and again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adk_nb.events.event import Event
from adk_nb.events.questions import questions_in
from adk_nb.events.request_input import unwrap_answer
from adk_nb.events.tool_confirmation import REQUEST_CONFIRMATION
from adk_nb.frames.plain import glance, one_line
from adk_nb.frames.reading import Usage, answers_in, total_usage
from adk_nb.notebook.drawing.fitting import shorten
from adk_nb.notebook.view.question_list import QuestionList
from adk_nb.notebook.view.shown_values import TEXT_LIMIT, for_page

ITEMS_KEPT = 500
"""How many of the newest items a view shows; all events are in `Chat.runs`."""
_TRANSFER = "transfer_to_agent"

Item = dict[str, Any]
"""One thing in the conversation: `n`, its number, `kind` and what that kind has.

- `user`: `text`; `agent`: `author`, `text`, `is_partial`
- `call`: `author`, `name`, `args`, `what` (on one line), `reply`, `is_done`, `is_bad`, `waits` (for an approval)
- `transfer`: `author`, `to`; `question`: `question`, as forms get it
- `log`: `lines`, how many were printed, and their `text`; `error`, `note`: `text`
"""


class ChatFold:
    """The conversation so far.

    Example:
        >>> fold = ChatFold("bot")
        >>> fold.event(Event(author="user", message="hi"))
        >>> fold.event(Event(author="bot", message="hello"))
        >>> fold.settle("completed")
        >>> [(item["kind"], item["text"]) for item in fold.snapshot()["items"]]
        [('user', 'hi'), ('agent', 'hello')]
    """

    def __init__(self, name: str) -> None:
        """Begin an empty conversation with an agent of this name."""
        self.name = name
        self.seq = 0
        self.status = "idle"
        self.usage = Usage()
        self._items: dict[int, Item] = {}
        self._count = 0
        self._streams: dict[tuple[str, str], Item] = {}
        """Replies that aren't whole yet, by path and author."""
        self._calls: dict[str, Item] = {}
        self._questions = QuestionList()
        self._asked: dict[str, Item] = {}
        self._turn_began = 0
        self._changed: dict[int, None] = {}
        self._told: dict[int, int] = {}
        """How much of a streaming reply the page has, by item."""
        self._is_changed = False

    def begin(self) -> None:
        """A turn begins, or goes on."""
        self.status, self._is_changed = "running", True

    def event(self, event: Event) -> None:
        """Something was said, called, asked or answered."""
        self._is_changed = True
        self.usage.add(total_usage([event]))
        if event.author == "user":
            self._take_user(event)
            return
        text = "".join(part.text or "" for part in _parts(event) if not part.thought)
        if event.partial:
            if text:
                self._stream(event, text)
            return
        if text:
            self._say(event, text)
        else:
            self._streams.pop(_key(event), None)
        self._take_calls(event)
        for asked in questions_in(event):
            path = event.node_info.path
            key = self._questions.ask(path, path, event.timestamp, asked)
            if key not in self._asked:
                self._asked[key] = self._add("question", question=self._questions.get(key))
        if event.error_code or event.error_message:
            self.fail(": ".join(filter(None, (event.error_code, event.error_message))))

    def settle(self, status: str, *, output: Any = None, error: str = "", printed: Sequence[str] = ()) -> None:
        """The turn has ended, or waits for a person.

        Args:
            status: How its run stands.
            output: What the root returned, shown where nothing was said.
            error: Why it failed.
            printed: Lines that nodes and tools printed since the last time.
        """
        for item in self._streams.values():
            item["is_partial"] = False
            self._touch(item)
        self._streams.clear()
        self._told.clear()
        if printed:
            self._add("log", lines=len(printed), text=shorten("\n".join(printed), TEXT_LIMIT))
        its = [item for n, item in self._items.items() if n > self._turn_began]
        if error and not any(item["kind"] == "error" for item in its):
            self.fail(error)
        if status in ("cancelled", "stopped"):
            self._add("note", text="stopped" if status == "cancelled" else "stopped at a limit")
        if status == "completed" and output is not None and not any(item["kind"] == "agent" for item in its):
            text = output if isinstance(output, str) else glance(output, TEXT_LIMIT)
            self._add("agent", author=self.name, text=shorten(text, TEXT_LIMIT), is_partial=False)
        self.status, self._is_changed = status, True

    def fail(self, message: str) -> None:
        """Show an error, on one line."""
        self._add("error", text=one_line(message, 400))

    def question(self, key: str) -> dict[str, Any] | None:
        """Return a question by its key, `None` when there is none."""
        return self._questions.get(key)

    def snapshot(self) -> dict[str, Any]:
        """Return everything a view shows."""
        newest = list(self._items.values())[-ITEMS_KEPT:]
        return {
            "seq": self.seq,
            "header": self._header(),
            "count": self._count,
            "items": [_copied(one) for one in newest],
        }

    def take_changes(self) -> dict[str, Any] | None:
        """Return what is new since the last call, numbered, or `None`.

        `items` are whole; `pieces` are `[item, from, text]`, to be put behind the first `from` characters.
        """
        if not self._is_changed:
            return None
        self.seq += 1
        items, pieces = [], []
        for number in self._changed:
            item = self._items.get(number)
            if item is None:
                continue
            told = self._told.get(number)
            if told is not None and item.get("is_partial"):
                pieces.append([number, told, item["text"][told:]])
            else:
                items.append(_copied(item))
            if item.get("is_partial"):
                self._told[number] = len(item["text"])
        self._changed.clear()
        self._is_changed = False
        return {"seq": self.seq, "header": self._header(), "count": self._count, "items": items, "pieces": pieces}

    def lines(self, after: int = 0) -> Iterator[str]:
        """Give the conversation as text, a line or more an item.

        Args:
            after: Only items with a higher number.
        """
        for number, item in self._items.items():
            if number > after:
                yield _line(item)

    @property
    def count(self) -> int:
        """Number of the newest item."""
        return self._count

    def _header(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "status": self.status,
            "open": self._questions.open_count,
            "model_calls": self.usage.model_calls,
            "tokens": self.usage.tokens,
        }

    def _add(self, kind: str, **fields: Any) -> Item:
        self._count += 1
        item = {"n": self._count, "kind": kind, **fields}
        self._items[self._count] = item
        if len(self._items) > 2 * ITEMS_KEPT:
            for number in list(self._items)[:ITEMS_KEPT]:
                del self._items[number]
        self._touch(item)
        return item

    def _touch(self, item: Item) -> None:
        self._changed[item["n"]] = None
        self._is_changed = True

    def _take_user(self, event: Event) -> None:
        self._turn_began = self._count
        answers = answers_in(event)
        text = "\n".join(part.text for part in _parts(event) if part.text)
        if text and not answers:
            self._add("user", text=shorten(text, TEXT_LIMIT))
        for interrupt_id, answer in answers.items():
            key = self._questions.open_key(interrupt_id)
            if key is not None and self._questions.close(key, answer, event.timestamp):
                self._touch(self._asked[key])

    def _stream(self, event: Event, text: str) -> None:
        item = self._streams.get(_key(event))
        if item is None:
            item = self._streams[_key(event)] = self._add("agent", author=_author(event), text="", is_partial=True)
        if len(item["text"]) < TEXT_LIMIT:
            item["text"] += text
            self._touch(item)

    def _say(self, event: Event, text: str) -> None:
        item = self._streams.pop(_key(event), None)
        if item is None:
            self._add("agent", author=_author(event), text=shorten(text, TEXT_LIMIT), is_partial=False)
            return
        item["text"], item["is_partial"] = shorten(text, TEXT_LIMIT), False
        self._told.pop(item["n"], None)
        self._touch(item)

    def _take_calls(self, event: Event) -> None:
        waiting = event.long_running_tool_ids or ()
        for call in event.get_function_calls():
            if call.name == REQUEST_CONFIRMATION:
                self._wait_for_approval(str(((call.args or {}).get("originalFunctionCall") or {}).get("id")))
            elif call.name == _TRANSFER:
                self._add("transfer", author=_author(event), to=str((call.args or {}).get("agent_name", "")))
            elif call.id not in waiting or not (call.name or "").startswith("adk_"):
                self._calls[str(call.id)] = self._add(
                    "call",
                    author=_author(event),
                    name=call.name or "",
                    args=for_page(call.args or {}),
                    what=glance(call.args, 100) if call.args else "",
                    reply=None,
                    is_done=False,
                    is_bad=False,
                    waits=False,
                )
        for response in event.get_function_responses():
            item = self._calls.get(str(response.id))
            if item is None or response.name == _TRANSFER:
                continue
            given = response.response or {}
            is_bad = set(given) == {"error"}
            if item["waits"] and is_bad and self._questions.open_count:
                continue  # it says that it waits, which its question shows
            item["reply"] = for_page(unwrap_answer(given))
            item |= {"is_done": True, "is_bad": is_bad, "waits": False}
            self._touch(item)

    def _wait_for_approval(self, call_id: str) -> None:
        item = self._calls.get(call_id)
        if item is not None:
            item |= {"reply": None, "is_done": False, "is_bad": False, "waits": True}
            self._touch(item)


def _copied(item: Item) -> Item:
    return {**item, "question": dict(item["question"])} if item["kind"] == "question" else dict(item)


def _parts(event: Event) -> list[Any]:
    return list(event.content.parts or ()) if event.content is not None else []


def _author(event: Event) -> str:
    return str(event.author or event.node_info.name or "")


def _key(event: Event) -> tuple[str, str]:
    return event.node_info.path, event.author or ""


def _line(item: Item) -> str:
    kind = item["kind"]
    if kind == "user":
        return f"user > {item['text']}"
    if kind == "agent":
        return f"{item['author']} > {item['text']}"
    if kind == "call":
        reply = f" → {glance(item['reply'], 200)}" if item["is_done"] else ""
        return f"  {item['author']} called {item['name']}({item['what']}){reply}"
    if kind == "transfer":
        return f"  {item['author']} → {item['to']}"
    if kind == "log":
        return "\n".join(f"  | {line}" for line in item["text"].splitlines())
    if kind == "question":
        asked = item["question"]
        said = one_line(asked["message"] or "Input is needed", 200)
        answer = "" if asked["answered"] is None else f" · answered: {glance(asked['answer'], 200)}"
        return f"  {asked['node'] or 'it'} asks: {said}{answer}"
    return f"  {'error: ' if kind == 'error' else ''}{item['text']}"
