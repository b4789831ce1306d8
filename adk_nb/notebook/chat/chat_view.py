"""`ChatView`: a chat box under a cell, alive as long as its kernel, and readable without one.

As with a run's view, what is displayed and saved is HTML that names no widget; a widget that is never displayed itself
links every copy of that HTML on the page with the chat. After each turn the saved copy is renewed.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets
from IPython.display import display, update_display

from adk_nb.notebook.assets import packed_module, style_sheet
from adk_nb.notebook.chat.chat_page import STYLES, chat_fragment
from adk_nb.notebook.front_end import FrontEnd, cell_count, front_end
from adk_nb.notebook.settings import theme

if TYPE_CHECKING:
    from adk_nb.notebook.chat.chat_fold import ChatFold

BATCH_S = 0.125
"""Seconds between two messages to the page."""


class ChatLink(anywidget.AnyWidget):
    """The kernel's end of the line to every copy of a chat on the page."""

    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode("").tag(sync=True)
    _key = traitlets.Unicode().tag(sync=True)
    base = traitlets.Dict().tag(sync=True)
    """A snapshot, for a copy that appears before it can ask for one: a busy kernel answers late."""
    drafts = traitlets.Dict().tag(sync=True)
    """What is typed and not sent: by question, and under `""` the next message."""


class ChatView:
    """What is shown of one chat, however often it is displayed."""

    def __init__(self, fold: ChatFold, take: Callable[[Mapping[str, Any]], None], text: Callable[[], str]) -> None:
        """Prepare to show a conversation.

        Args:
            fold: The conversation.
            take: Called on the kernel's loop with what the page sends: `say`, `answer`, `stop`.
            text: Gives the conversation as text.
        """
        self._fold = fold
        self._take = take
        self._text = text
        self._key = uuid.uuid4().hex
        self._front_end: FrontEnd = "none"
        self._link: ChatLink | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._flushed_at = 0.0
        self._shown_in: int | None = None

    @property
    def is_in_this_cell(self) -> bool:
        """A copy was displayed by the cell that runs now."""
        return self._shown_in is not None and self._shown_in == cell_count()

    def show(self) -> None:
        """Display a copy under the running cell."""
        self._front_end = front_end()
        if self._front_end == "none":
            return
        if self._front_end != "static":
            self._loop = asyncio.get_running_loop()
            self._open()
        self._shown_in = cell_count()
        data, metadata = self._bundle()
        display(data, metadata=metadata, raw=True, display_id=self._key)

    def touch(self) -> None:
        """Something happened: tell the page soon, not more often than it can follow."""
        if self._loop is not None and self._link is not None:
            self._loop.call_soon_threadsafe(self._plan)

    def settled(self) -> None:
        """A turn has ended or waits: renew what a save of the notebook keeps."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._renew)
        elif self._front_end == "static":
            self._renew()

    def tell_errors(self, key: str, errors: dict[str, str]) -> None:
        """Tell a form, or with an empty key the message box, what is wrong with what was sent."""
        if self._link is not None:
            self._link.send({"kind": "errors", "key": key, "errors": errors})

    def html(self) -> str:
        """Return the conversation as HTML."""
        return chat_fragment(self._key, self._fold.snapshot(), theme())

    def _plan(self) -> None:
        if self._timer is None and self._loop is not None:
            delay = max(0.0, self._flushed_at + BATCH_S - time.monotonic())
            self._timer = self._loop.call_later(delay, self._flush)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._flushed_at = time.monotonic()
        changes = self._fold.take_changes()
        if changes is not None and self._link is not None:
            self._link.send({"kind": "batch", "changes": changes})

    def _renew(self) -> None:
        self._flush()
        if self._link is not None:
            self._link.base = self._fold.snapshot()
        data, metadata = self._bundle()
        update_display(data, metadata=metadata, raw=True, display_id=self._key)

    def _bundle(self) -> tuple[dict[str, Any], dict[str, Any]]:
        data: dict[str, Any] = {"text/plain": self._text(), "text/html": self.html()}
        if self._front_end != "isolated" or self._link is None:
            return data, {}
        widget, metadata = self._link._repr_mimebundle_() or ({}, {})
        return {**widget, **data}, metadata

    def _open(self) -> None:
        if self._link is not None:
            return
        css = style_sheet(*STYLES) if self._front_end == "isolated" else ""
        self._link = ChatLink(_esm=packed_module("run/chat_main"), _css=css, _key=self._key, base=self._fold.snapshot())
        self._link.on_msg(self._on_message)

    def _on_message(self, _link: object, content: Any, _buffers: object) -> None:
        # On ipykernel 7.0 to 7.3 this arrives on another thread than the kernel's loop.
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._hear, content)

    def _hear(self, content: Mapping[str, Any]) -> None:
        if content.get("kind") == "snapshot":
            self._flush()
            if self._link is not None:
                self._link.send({"kind": "snapshot", "snapshot": self._fold.snapshot()})
        else:
            self._take(content)
