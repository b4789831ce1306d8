"""The one decision maker: graph state and a happening go in, commands come out.

It serves live, retried, resumed and restored runs alike. It is deterministic, does no I/O and reads no clock; it may
change the graph state that it owns, so a step costs the same in a graph of ten and of ten thousand nodes. The engine
performs the commands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from adk_nb.errors import WorkflowConfigurationError, one_of
from adk_nb.events.paths import child_branch, child_path, common_branch, outside
from adk_nb.events.read_only import ReadOnlyDict
from adk_nb.events.record import NodeRun, Status
from adk_nb.workflow.nodes import START_NAME, BaseNode, JoinNode
from adk_nb.workflow.rounds import followed, is_in_time, reached_by, ready_at_rest, starved
from adk_nb.workflow.run_state import GraphState

TO_DO = frozenset({Status.PENDING, Status.RUNNING, Status.FAILED, Status.CANCELLED, Status.STOPPED})
"""Statuses of runs that have to execute when their invocation goes on."""
GAVE_UP = frozenset({Status.FAILED, Status.CANCELLED})
"""Statuses that a run above has taken note of: its own status says whether it goes on because of them."""
NO_TURN = frozenset({Status.COMPLETED, Status.INCOMPLETE, Status.GATHERING})
"""Statuses of runs that don't keep a later run of their node waiting."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Happening: the graph got its input."""


@dataclass(frozen=True, slots=True)
class Continued:
    """Happening: a restored or failed graph goes on; `ready` are the paths of the runs that have something to do."""

    ready: Collection[str]


@dataclass(slots=True)  # one or more a step: frozen, they would take three times as long to make
class Ended:
    """Happening: a run stopped executing; its record says how."""

    run: NodeRun


@dataclass(slots=True)
class Start:
    """Command: execute this run."""

    run: NodeRun


@dataclass(slots=True)
class Keep:
    """Command: store this record together with the run that just ended."""

    run: NodeRun


@dataclass(frozen=True, slots=True)
class Stop:
    """Command: cancel all runs that execute now."""


@dataclass(frozen=True, slots=True)
class Settle:
    """Command: the graph is done for now."""

    status: Literal[
        Status.COMPLETED, Status.WAITING, Status.FAILED, Status.INCOMPLETE, Status.CANCELLED, Status.STOPPED
    ]
    output: Any = None
    failed: NodeRun | None = None
    error: WorkflowConfigurationError | None = None


Happening = Begun | Continued | Ended
Command = Start | Keep | Stop | Settle


def decide(state: GraphState, happening: Happening) -> list[Command]:
    """Return what to do about a happening, in order."""
    commands: list[Command] = []
    if isinstance(happening, Ended):
        _end(state, happening.run, commands)
    elif isinstance(happening, Begun):
        _trigger_all(state, state.graph.outgoing(START_NAME).targets(None), None, commands)
    else:
        _go_on(state, happening.ready, commands)
    if not state.running and (not state.ready or state.allowance.reached is not None):
        for join in ready_at_rest(state):
            _fire(state, join, commands)
        if not state.running:
            commands.append(_settle(state))
    return commands


def find_ready(runs: Collection[NodeRun]) -> set[str]:
    """Return the paths of the runs that have something to do when their invocation goes on.

    Args:
        runs: The open records of one invocation, in the order of their creation.
    """
    open_questions = {question.interrupt_id for run in runs for question in run.open_questions}
    queued = _queued(runs)
    ready: set[str] = set()
    for run in sorted(runs, key=lambda one: one.path.count("/"), reverse=True):
        if run.path not in queued and (
            run.status in TO_DO
            or run.path in ready
            or any(interrupt_id not in open_questions for interrupt_id in run.open_below)
        ):
            ready.add(run.path)
            if run.status not in GAVE_UP:
                ready.add(run.parent)
    return ready


def _queued(runs: Collection[NodeRun]) -> set[str]:
    """Return the paths of the triggers that wait until an earlier run of their node has ended."""
    turns: set[tuple[str, str]] = set()
    queued: set[str] = set()
    for run in runs:
        if run.status in NO_TURN:
            continue
        turn = (run.parent, run.name)
        if turn in turns and run.status is Status.PENDING and not run.attempts:
            queued.add(run.path)
        turns.add(turn)
    return queued


def _go_on(state: GraphState, ready: Collection[str], commands: list[Command]) -> None:
    state.failed, state.is_stopping = None, False
    state.running.clear()
    state.ready.clear()
    for run in list(state.active.values()):
        if run.path in ready:
            _start(state, run, commands)


def _end(state: GraphState, run: NodeRun, commands: list[Command]) -> None:
    state.running.discard(run.path)
    if run.status is Status.COMPLETED:
        _complete(state, run, commands)
    elif run.status is Status.FAILED:
        if state.failed is None:
            state.failed = run
            state.is_stopping = True
            state.ready.clear()
            if state.running:
                commands.append(Stop())
    elif run.status is Status.INCOMPLETE:
        state.short.add(run.name)
        state.notes.update(dict.fromkeys(run.notes))
        _next_in_queue(state, run.name, commands)
    elif run.status not in (Status.WAITING, Status.STOPPED):
        state.is_stopping = True
    if not state.is_stopping:
        _fill_slots(state, commands)


def _complete(state: GraphState, run: NodeRun, commands: list[Command]) -> None:
    graph = state.graph
    outgoing = graph.outgoing(run.name)
    targets = outgoing.targets(run.route)
    if not targets and outgoing.ranked:
        run.note(dead_end(state, run))
        run.is_cut_short = True
    if run.is_cut_short:
        state.short.add(run.name)
    elif state.short:
        state.short.discard(run.name)
    if run.notes:
        state.notes.update(dict.fromkeys(run.notes))
    if not targets and run.output is not None:
        state.outputs[run.name] = run
    else:
        state.outputs.pop(run.name, None)
    _trigger_all(state, targets, run, commands)
    if run.name in state.reached:
        run.rounds = reached_by(state, run.name)
    _next_in_queue(state, run.name, commands)


def dead_end(state: GraphState, run: NodeRun) -> str:
    """Return the sentence that says why no edge was followed from a completed run."""
    outgoing = state.graph.outgoing(run.name)
    known = one_of(run.route, outgoing.labels)
    found = "no route" if run.route is None else f"the route {run.route!r}"
    return (
        f"{run.name} ended with {found}, which no edge handles, so its branch stopped there: known labels are {known}; "
        f"correct the label, or add a DEFAULT_ROUTE edge."
    )


def _next_in_queue(state: GraphState, name: str, commands: list[Command]) -> None:
    state.active.pop(name, None)
    queue = state.queued.get(name)
    if queue:
        run = queue.popleft()
        if not queue:
            del state.queued[name]
        state.active[name] = run
        if not state.is_stopping:
            _start(state, run, commands)


def _start(state: GraphState, run: NodeRun, commands: list[Command]) -> None:
    limit = state.max_concurrency
    if state.ready or (limit is not None and 0 < limit <= len(state.running)) or not state.allowance.take(run.kind):
        state.ready.append(run)
        return
    state.running.add(run.path)
    commands.append(Start(run))


def _fill_slots(state: GraphState, commands: list[Command]) -> None:
    limit = state.max_concurrency
    while state.ready and (limit is None or limit <= 0 or len(state.running) < limit):
        if not state.allowance.take(state.ready[0].kind):
            return
        run = state.ready.popleft()
        state.running.add(run.path)
        commands.append(Start(run))


def _trigger_all(
    state: GraphState, targets: tuple[BaseNode, ...], source: NodeRun | None, commands: list[Command]
) -> None:
    branch = state.branch if source is None else source.branch
    is_fan_out = len(targets) > 1
    if is_fan_out and branch != state.branch:
        branch = outside(branch, [target.name for target in targets], state.branch)
    for target in targets:
        if isinstance(target, JoinNode):
            _arrive(state, target, source, commands)
            continue
        run = _new_run(state, target)
        if source is None:
            run.input = state.input
        else:
            run.input, run.sources = source.output, (source.path,)
            if source.follows:
                run.follows = followed(state, run, (source,))
        run.branch = child_branch(branch, run.name, run.run_id) if is_fan_out else branch
        _schedule(state, run, commands)


def _arrive(state: GraphState, join: JoinNode, source: NodeRun | None, commands: list[Command]) -> None:
    wanted = len(state.graph.predecessors(join.name))
    needed = join.needed(wanted)
    if source is not None and needed < wanted and not is_in_time(state, join.name, source):
        return
    run = state.gathering.get(join.name)
    is_news = run is None
    if run is None:
        run = state.gathering[join.name] = _new_run(state, join)
        run.status = Status.GATHERING
    held = state.arrived.setdefault(join.name, {})
    if source is not None:
        earlier = held.pop(source.name, None)
        if earlier is not None and earlier is not source:
            earlier.held_for = tuple(path for path in earlier.held_for if path != run.path)
            commands.append(Keep(earlier))
        held[source.name] = source
        source.held_for = (*source.held_for, run.path)
        if source.output is None and not join.require_output:
            is_news |= _note_silence(run, source)
    if len(held) + (join.name in state.graph.outgoing(START_NAME).ranked) >= needed:
        _fire(state, join, commands)
    elif is_news:
        commands.append(Keep(run))


def _fire(state: GraphState, join: JoinNode, commands: list[Command]) -> None:
    run = state.gathering.pop(join.name)
    held = state.arrived.pop(join.name)
    came = [name for name in state.graph.predecessors(join.name) if name in held or name == START_NAME]
    run.input = ReadOnlyDict({name: held[name].output if name in held else state.input for name in came})
    run.sources = tuple(one.path for one in held.values())
    run.branch = common_branch([held[name].branch if name in held else state.branch for name in came])
    run.follows = followed(state, run, held.values())
    run.make_ready()
    _schedule(state, run, commands)


def _note_silence(join_run: NodeRun, source: NodeRun) -> bool:
    note = f"{source.name} gave no output, so the join {join_run.name!r} gets None for it"
    if note in join_run.notes:
        return False
    join_run.note(note)
    return True


def _new_run(state: GraphState, node: BaseNode) -> NodeRun:
    number = state.counters[node.name] = state.counters.get(node.name, 0) + 1
    run_id = str(number)
    return NodeRun(
        path=child_path(state.path, node.name, run_id),
        name=node.name,
        run_id=run_id,
        parent=state.path,
        invocation_id=state.invocation_id,
        kind=node.kind,
    )


def _schedule(state: GraphState, run: NodeRun, commands: list[Command]) -> None:
    commands.append(Keep(run))
    if run.name in state.active:
        state.queued.setdefault(run.name, deque()).append(run)
        return
    state.active[run.name] = run
    if not state.is_stopping:
        _start(state, run, commands)


def _settle(state: GraphState) -> Settle:
    if state.failed is not None:
        return Settle(Status.FAILED, failed=state.failed)
    if state.is_stopping:
        return Settle(Status.CANCELLED)
    if state.ready or any(run.status is Status.STOPPED for run in state.active.values()):
        return Settle(Status.STOPPED)
    if any(run.status is Status.WAITING for run in state.active.values()):
        return Settle(Status.WAITING)
    for name in state.gathering:
        state.short.add(name)
        state.notes[starved(state, name)] = None
    ended = [run for run in state.outputs.values() if state.graph.is_terminal(run.name)]
    if len(ended) > 1:
        names = ", ".join(repr(run.name) for run in ended)
        return Settle(
            Status.FAILED,
            error=WorkflowConfigurationError(
                f"Workflow at {state.path}: multiple terminal nodes produced output ({len(ended)}): {names}. A "
                f"workflow has one output: lead them into a JoinNode, or let all but one return None."
            ),
        )
    if not ended and len(state.outputs) == 1:  # a loop left by a route without an edge: what it came to
        ended = list(state.outputs.values())
    output = ended[0].output if ended else None
    if state.gathering or (state.short and not ended):
        return Settle(Status.INCOMPLETE, output=output)
    return Settle(Status.COMPLETED, output=output)
