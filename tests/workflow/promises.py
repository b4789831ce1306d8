"""What must hold of a run however often it was cut: compared with the uncut run, and by the rules of the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from adk_nb.events import Event
from adk_nb.events.paths import last_segment
from adk_nb.events.record import NodeRun, Status
from adk_nb.workflow import BaseNode, JoinNode, Workflow
from adk_nb.workflow.nodes import START_NAME
from tests.workflow.driving import Conversation
from tests.workflow.random_nodes import shape


@dataclass
class Ending:
    """How a run ended: its records, its events and the state."""

    records: dict[str, NodeRun]
    events: list[Event]
    state: dict[str, Any]

    @classmethod
    async def of(cls, talk: Conversation) -> Ending:
        """Read it from the store."""
        return cls(await talk.records(), await talk.stored(), await talk.state())

    def compared(self) -> dict[str, Any]:
        """Return what is the same however often the run was cut, where nothing races."""
        return {
            "runs": {path: _compared(run) for path, run in self.records.items()},
            "outputs": Counter(_published(event) for event in self.events if event.output is not None),
            "state": {key: value for key, value in self.state.items() if key != "last"},
        }


def _compared(run: NodeRun) -> tuple[Any, ...]:
    return (
        str(run.status), shape(run.input), run.output, run.route, run.branch, sorted(run.sources),
        sorted(_lasting(run.notes)), run.is_cut_short,
        [(one.interrupt_id, one.is_answered, one.answer) for one in run.questions],
    )  # fmt: skip


def _published(event: Event) -> str:
    place = event.node_info
    return repr((place.path, event.author, event.branch, event.output, sorted(place.output_for or ())))


def check_promises(ending: Ending, root: BaseNode) -> None:
    """Check what the rules promise of any run, whatever raced in it."""
    records, events = ending.records, ending.events
    asked = Counter(i for event in events for i in event.long_running_tool_ids or ())
    assert asked == Counter(question.interrupt_id for run in records.values() for question in run.questions)
    assert max(asked.values(), default=1) == 1, f"asked twice: {asked}"
    given = Counter(event.node_info.path for event in events if event.output is not None)
    assert max(given.values(), default=1) == 1, f"published twice: {given}"
    told: dict[str, Any] = {}
    for event in events:
        told |= event.actions.state_delta
    assert ending.state == told
    assert isinstance(root, Workflow)
    below: dict[str, list[NodeRun]] = {}
    for run in records.values():
        is_collected = run.status is Status.FAILED and records[run.parent].kind == "parallel"
        assert run.status in (Status.COMPLETED, Status.INCOMPLETE, Status.GATHERING) or is_collected, run
        below.setdefault(run.parent, []).append(run)
    _check_graph(root, next(iter(below[""])), below)


def _check_graph(workflow: Workflow, holder: NodeRun, below: dict[str, list[NodeRun]]) -> None:
    """Check that each output went to whom the edges and the route say, once, and unchanged."""
    graph = workflow.graph
    assert graph is not None
    runs = below.get(holder.path, [])
    expected: dict[str, list[NodeRun | None]] = {}
    for target in graph.outgoing(START_NAME).targets(None):
        expected.setdefault(target.name, []).append(None)
    for run in runs:
        if run.status is Status.COMPLETED:
            for target in graph.outgoing(run.name).targets(run.route):
                expected.setdefault(target.name, []).append(run)
    by_name: dict[str, list[NodeRun]] = {}
    for run in runs:
        by_name.setdefault(run.name, []).append(run)
    assert set(by_name) <= set(expected)
    for name, arrivals in expected.items():
        node = graph.node(name)
        found = by_name.get(name, [])
        assert sorted(int(run.run_id) for run in found) == list(range(1, len(found) + 1))
        if isinstance(node, JoinNode):
            is_in_loop = name in graph.loops
            _check_join(node, len(graph.predecessors(name)), [one for one in arrivals if one], found, is_in_loop)
        else:
            _check_triggers(arrivals, found, holder)
        if isinstance(node, Workflow):
            for run in found:
                _check_graph(node, run, below)


def _lasting(notes: Iterable[str]) -> list[str]:
    """Return all notes but those of writes that met: which do depends on what runs at the same time, as a cut does."""
    return [note for note in notes if "without knowing what" not in note]


def _check_triggers(arrivals: Sequence[NodeRun | None], runs: Sequence[NodeRun], holder: NodeRun) -> None:
    """A node runs once for each output that leads to it, with that output."""
    outputs: dict[tuple[str, ...], Any] = {(one.path,): one.output for one in arrivals if one is not None}
    if len(outputs) < len(arrivals):
        outputs[()] = holder.input
    assert sorted(run.sources for run in runs) == sorted(outputs)
    for run in runs:
        assert run.input == outputs[run.sources]


def _check_join(
    join: JoinNode, predecessors: int, arrivals: Sequence[NodeRun], runs: Sequence[NodeRun], is_in_loop: bool
) -> None:
    """A join fires with one output of each of its predecessors, with as many as it waits for, and takes none twice."""
    arrived = {one.path: one for one in arrivals}
    needed = join.needed(predecessors)
    fired = [run for run in runs if run.status is not Status.GATHERING]
    taken = [path for run in fired for path in run.sources]
    assert len(taken) == len(set(taken)), f"{join.name} took an output twice: {taken}"
    for run in fired:
        names = [last_segment(path)[0] for path in run.sources]
        assert len(set(names)) == len(names)
        assert {name: value for name, value in run.input.items() if name != START_NAME} == {
            last_segment(path)[0]: arrived[path].output for path in run.sources
        }
        assert len(names) == needed or (join.wait_for == "started" and 0 < len(names) < needed)
    assert len(runs) - len(fired) <= 1
    _check_rounds(join, needed, Counter(one.name for one in arrivals), len(fired), is_in_loop)


def _check_rounds(join: JoinNode, needed: int, arrivals: Counter[str], fired: int, is_in_loop: bool) -> None:
    """A join fires as often as the arrivals of its predecessors make up rounds; in a loop more may begin by itself."""
    if len(arrivals) >= (1 if join.wait_for == "started" else needed):
        assert fired, f"{join.name} never fired"
    if join.wait_for == "any":
        most = max(arrivals.values(), default=0)
        assert fired >= most if is_in_loop else fired == most, f"{join.name} fired {fired} times: {arrivals}"
    elif not is_in_loop and join.wait_for != "started":
        rounds = sorted(arrivals.values(), reverse=True)
        assert fired <= (rounds[needed - 1] if len(rounds) >= needed else 0), f"{join.name} fired too often: {arrivals}"
