"""One bill: what a run says it used, frames, the view, a chat and the list of runs agree, whoever made the calls."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import adk_nb
from adk_nb.agents import LlmAgent
from adk_nb.apps import App, EventsCompactionConfig, LlmEventSummarizer
from adk_nb.frames import calls_frame, nodes_frame, runs_frame, sessions_frame, usage_frame
from adk_nb.notebook.chat.chat_fold import ChatFold
from adk_nb.sessions import InMemorySessionService, SqliteSessionService
from adk_nb.testing import ScriptedModel, call
from adk_nb.tools import AgentTool


def desk() -> App:
    """Return an app whose agent asks another one apart, and whose every turn is summarised."""
    helper = LlmAgent(name="helper", model=ScriptedModel(["checked"]))
    model = ScriptedModel([call("helper", request="check it"), "done"])
    config = EventsCompactionConfig(
        compaction_interval=1, overlap_size=0, summarizer=LlmEventSummarizer(llm=ScriptedModel(["in short"]))
    )
    root = LlmAgent(name="desk", model=model, tools=[AgentTool(helper)])
    return App(name="desk", root_agent=root, events_compaction_config=config)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_calls_made_apart_and_summaries_are_on_every_bill(kind: str, tmp_path: Path) -> None:
    """A call of an agent asked as a tool and the call that wrote a summary count live, stored, in views and lists."""
    store: Any = InMemorySessionService() if kind == "memory" else SqliteSessionService(str(tmp_path / "s.db"))

    async def main() -> Any:
        return await adk_nb.run(desk(), "check it", sessions=store)

    done = asyncio.run(main())
    assert done.status == "completed"
    used = done.usage
    assert used.model_calls == 4
    assert any(event.actions.compaction for event in done.events)
    chat = ChatFold("desk")
    for event in done.events:
        chat.event(event)
    assert chat.usage == used
    assert done.history.fold.usage == used
    for source in (done, store):
        rows: Any = calls_frame(source)
        assert (len(rows), rows["prompt_tokens"].sum()) == (4, used.prompt_tokens)
        nodes: Any = nodes_frame(source)
        by_node: Any = usage_frame(source, "path").set_index("path")
        assert nodes["tokens"].sum() == used.tokens - by_node.loc["", "tokens"]  # no node wrote the summary
        assert nodes.set_index("path").loc["desk@1", "model_calls_incl"] == 3
        for frame in (usage_frame, runs_frame, sessions_frame):
            assert int(frame(source)["tokens"].sum()) == used.tokens
    listed: Any = adk_nb.runs(store)
    assert int(listed["tokens"].sum()) == used.tokens
