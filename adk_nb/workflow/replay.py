"""Records of node runs worked out from recorded events: the events say what ended and how, `decide` says what follows.

For sessions whose store keeps nothing but events. It does no I/O and reads no clock.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from typing import Any

from pydantic import ValidationError

from adk_nb.events.carried import own_event
from adk_nb.events.paths import last_segment
from adk_nb.events.record import ENDED, NodeRun, Status, open_ids
from adk_nb.events.values import freeze
from adk_nb.workflow.checkpoints import CHECKPOINT_COMPLETED
from adk_nb.workflow.decide import Begun, Command, Continued, Ended, Keep, Settle, Start, decide
from adk_nb.workflow.graph import Graph
from adk_nb.workflow.history import History, Invocation, last_answer, stand_by
from adk_nb.workflow.limits import Allowance, Limits
from adk_nb.workflow.nodes import BaseNode
from adk_nb.workflow.run_state import GraphState


def replay(events: Iterable[Any], root: BaseNode | None = None, invocation_id: str | None = None) -> list[NodeRun]:
    """Return the records of the node runs that events tell of, in the order in which they were created.

    Args:
        events: The events of one session, oldest first, of adk_nb or of google-adk.
        root: The root that ran. With it, the graph is walked again, so that records also say what each run was given,
            what triggered it, what a join holds and which runs were about to start; without it, they say what stands
            in the events.
        invocation_id: Only the records of this invocation; `None` gives all.

    Example:
        >>> from adk_nb import Event, Workflow
        >>> def a(): ...
        >>> def b(): ...
        >>> said = Event(invocation_id="e", author="wf", output=1, node_path="wf@1/a@1")
        >>> flow = Workflow(name="wf", edges=[("START", a, b)])
        >>> [(run.path, str(run.status), run.input) for run in replay([said], flow)]
        [('wf@1', 'running', None), ('wf@1/a@1', 'completed', None), ('wf@1/b@1', 'pending', 1)]
    """
    history = History()
    for event in events:
        history.read(own_event(event))
    return [
        run
        for invocation in history.invocations.values()
        if invocation_id in (None, invocation.id)
        for run in _runs_of(invocation, root)
    ]


def changes(events: Iterable[Any], root: BaseNode | None = None) -> Iterator[list[NodeRun]]:
    """Give the records of `replay` as they came about, for an index: a later form of a record replaces the earlier.

    The order of the first forms is that of creation, the order of the completed ones that of completion.
    """
    history = History()
    for event in events:
        history.read(own_event(event))
    for invocation in history.invocations.values():
        if invocation.is_whole:
            yield invocation.carried
            continue
        runs = _runs_of(invocation, root)
        yield [run if run.status is Status.GATHERING else replace(run, status=Status.RUNNING) for run in runs]
        yield sorted(runs, key=lambda run: invocation.ended.get(run.path, math.inf))


def walk_again(state: GraphState, holder: NodeRun, told: Iterable[NodeRun]) -> list[NodeRun]:
    """Bring a fresh state of a graph to where the records below it say it is; return those of the graph's own runs.

    Args:
        state: The state.
        holder: The run that holds the graph.
        told: All records below it, as events without records tell them.
    """
    known = Invocation(holder.invocation_id, holder.created_at)
    for run in sorted(told, key=_end_of):
        known.put(run, len(known.runs) + 1)
    walk = Walk(state, known)
    walk.go()
    return list(walk.kept.values())


def _end_of(run: NodeRun) -> float:
    return run.ended_at or last_answer(run) or math.inf


def _runs_of(invocation: Invocation, root: BaseNode | None) -> list[NodeRun]:
    if invocation.is_whole:
        return list(invocation.runs.values())
    invocation.settle()
    if root is None:
        _guess_answered(invocation)
    else:
        _walk_root(invocation, root)
    roots = [path for path, run in invocation.runs.items() if not run.parent]
    paths = dict.fromkeys([*roots, *invocation.order, *invocation.runs])
    # Of runs that only events tell of, the first event is as near as one comes to their creation.
    return sorted(map(invocation.runs.__getitem__, paths), key=lambda run: run.created_at or run.started_at or 0.0)


def _guess_answered(invocation: Invocation) -> None:
    """Take a run as ended by its answers when others went on after them, as its node isn't known."""
    last = max(invocation.ended.values(), default=0)
    for run in invocation.runs.values():
        if run.status is Status.PENDING and run.questions and invocation.ended.get(run.path, last) < last:
            _take_answers(run)


def _walk_root(invocation: Invocation, root: BaseNode) -> None:
    run = invocation.root_run(root.name)
    if run is None:
        return
    run.kind = root.kind
    graph = getattr(root, "graph", None)
    if graph is not None:
        Walk(new_state(root, graph, run), invocation).go_for(run)
    elif _is_answered(root, run):
        _take_answers(run)


def new_state(node: BaseNode, graph: Graph, run: NodeRun) -> GraphState:
    """Return the state of a graph that a run is about to begin."""
    given = run.input
    with contextlib.suppress(ValidationError):  # it fitted when it ran; the schema was changed since
        given = freeze(node.checked_input(given))
    return GraphState(graph=graph, path=run.path, invocation_id=run.invocation_id, input=given, branch=run.branch)


class Walk:
    """One run of one graph, walked again from its start."""

    def __init__(self, state: GraphState, known: Invocation, now: float = 0.0) -> None:
        """Prepare to walk.

        Args:
            state: A fresh state; the walk brings it to where the records are.
            known: What is known of the runs below the graph; the walk puts its own records in their place.
            now: When the graph began.
        """
        self.state = state
        self.known = known
        self.kept: dict[str, NodeRun] = {}
        """Records of the graph, by path, in the order of creation."""
        self.last = 0
        """Number of the event that told last of an end in this graph."""
        self.inner: dict[str, Walk] = {}
        self._settle: Settle | None = None
        self._ended: list[tuple[int, int, NodeRun]] = []
        self._order = itertools.count()
        self._started: set[str] = set()
        self._silent: dict[str, NodeRun] = {}
        """Runs that have started and haven't ended, as far as is known."""
        self._expected = sorted(known.children.get(state.path, ()), key=known.seen.__getitem__, reverse=True)
        self._now = now

    def go(self) -> None:
        """Feed `decide` everything that has ended, in its order, and what must have ended for the rest to follow."""
        state = self.state
        state.max_concurrency, limit = None, state.max_concurrency
        state.allowance, allowance = Allowance(Limits(max_node_runs=None)), state.allowance
        self._perform(decide(state, Begun()))
        self._follow()
        state.max_concurrency, state.allowance = limit, allowance

    def go_for(self, run: NodeRun) -> None:
        """Go, and say in the record of the run that holds the graph how it stands, unless its end is recorded."""
        self.go()
        if self.known.is_sure(run):
            self._end_all_silently()
        else:
            self._close(run)

    def _close(self, run: NodeRun) -> None:
        """Say in the record of the run that holds the graph how it ended, or how it stands."""
        settle, state = self._settle, self.state
        run.note(*state.notes)
        run.is_cut_short = bool(state.short)
        if settle is not None and settle.status in ENDED:
            run.output, run.open_below = settle.output, ()
            if settle.status is Status.INCOMPLETE or (run.is_cut_short and not run.parent):
                run.fall_short(self._now)
            else:
                run.complete(self._now)
            self.known.ended[run.path] = self.last
            return
        run.output = None
        self.known.ended.pop(run.path, None)
        if settle is not None and settle.error is not None:
            run.fail(self._now, type(settle.error).__name__, str(settle.error), run.path)
        else:
            stand_by(run, state.active.values())

    def _follow(self) -> None:
        while True:
            until = self._ended[0][0] if self._ended else math.inf
            if self._work_out(until):
                continue
            if not self._ended:
                return
            self._end(heapq.heappop(self._ended)[2])

    def _end(self, run: NodeRun) -> None:
        self.last = max(self.last, self.known.ended.get(run.path, 0))
        self._now = max(self._now, run.ended_at or 0.0)
        self._perform(decide(self.state, Ended(run)))

    def _perform(self, commands: list[Command]) -> None:
        for command in commands:
            if isinstance(command, Keep):
                self._keep(command.run)
            elif isinstance(command, Start):
                self._start(command.run)
            elif isinstance(command, Settle):
                self._settle = command

    def _keep(self, run: NodeRun) -> None:
        if run.path not in self.kept:
            self.kept[run.path] = run
            run.created_at = run.created_at or self._now or self.known.began_at
            self.known.runs.setdefault(run.path, run)
            self.known.order.append(run.path)

    def _start(self, run: NodeRun) -> None:
        self._started.add(run.path)
        found = self.known.runs[run.path]
        is_known = found is not run
        if is_known:
            _fill_in(run, found, self._now or run.created_at)
        self.known.runs[run.path] = run
        self.known.seen.setdefault(run.path, self.last)
        node = self.state.graph.node(run.name)
        graph = getattr(node, "graph", None)
        if graph is not None and is_known:
            self.inner[run.path] = Walk(new_state(node, graph, run), self.known, self._now)
            self.inner[run.path].go_for(run)
        elif _is_answered(node, run):
            _take_answers(run)
        elif node.wait_for_output and run.is_finished and run.output is None and run.route is None:
            run.fall_short(run.ended_at or 0.0)
        if run.status in ENDED:
            end = self.known.ended.get(run.path, self.known.seen[run.path])
            heapq.heappush(self._ended, (end, next(self._order), run))
        else:
            self._silent[run.path] = run

    def _work_out(self, until: float) -> bool:
        """End a silent run when one heard of before `until` can only follow from its end; `False` if there is none."""
        while self._expected:
            path = self._expected[-1]
            if path in self._started:
                self._expected.pop()
                continue
            if self.known.seen[path] >= until:
                return False
            source = self._source_of(path)
            if self._end_silently(source) if source is not None else self._rest(path):
                return True
            self._expected.pop()  # the graph was another one then
        workflow = last_segment(self.state.path)[0]
        for run in self._silent.values():
            if until == math.inf and self.known.checkpoints.get((workflow, run.name)) == CHECKPOINT_COMPLETED:
                return self._end_silently(run)
        return False

    def _rest(self, path: str) -> bool:
        """Let a join fire that was heard of and could only fire while nothing ran; `False` when it can't be."""
        join = self.kept.get(path)
        if join is None or join.status is not Status.GATHERING:
            return False
        silent = next((run for run in self._silent.values() if not open_ids(run)), None)
        if silent is not None:
            return self._end_silently(silent)
        others = set(self.state.running)
        self._perform(decide(self.state, Continued(())))
        self.state.running |= others
        self._settle = None
        return path in self._started

    def _source_of(self, path: str) -> NodeRun | None:
        """Return the silent run from which the fewest silent ends lead to a run that hasn't started."""
        graph, name = self.state.graph, last_segment(path)[0]
        starts = {run.name: run for run in self._silent.values() if not open_ids(run)}
        known = self.kept.get(path)
        if name in starts and known is not None and known.status is Status.PENDING:
            return starts[name]  # it waits for its turn
        origin = dict(starts)
        names = list(starts)
        for one in names:
            for target in graph.outgoing(one).targets(None):
                if target.name == name:
                    return origin[one]
                if target.name not in origin:
                    origin[target.name] = origin[one]
                    names.append(target.name)
        return None

    def _end_silently(self, run: NodeRun) -> bool:
        """Take a run as completed without an output; `False` when it can't be."""
        del self._silent[run.path]
        run.error_type = run.error_message = run.error_path = None  # a try after the failed one ended well
        run.started_at = run.started_at or run.created_at
        node = self.state.graph.node(run.name)
        graph = getattr(node, "graph", None)
        if graph is None:
            run.complete(self._now)
        else:
            inner = self.inner.get(run.path)
            if inner is None:
                inner = self.inner[run.path] = Walk(new_state(node, graph, run), self.known, self._now)
                inner.go()
            inner._end_all_silently()
            inner._close(run)
            if run.status not in ENDED:
                return False
        self.known.ended.setdefault(run.path, self.last)
        self._end(run)
        return True

    def _end_all_silently(self) -> None:
        while self._silent and not any(open_ids(run) for run in self._silent.values()):
            if not self._end_silently(next(iter(self._silent.values()))):
                return
            self._follow()


_FROM_DECIDE = frozenset({"held_for", "rounds", "follows"})
_FIELDS = tuple(field.name for field in fields(NodeRun) if field.name not in _FROM_DECIDE)


def _fill_in(run: NodeRun, found: NodeRun, now: float) -> None:
    """Say in the record of a run that `decide` has started what is known of it."""
    if found.is_told:
        run.take_over(found)
        run.started_at = now
        if run.attempts:  # its first event was all that told of its start
            run.attempts = (run.attempts[0]._replace(started_at=now), *run.attempts[1:])
        return
    for name in _FIELDS:
        setattr(run, name, getattr(found, name))
    if run.status is Status.GATHERING:
        run.make_ready()


def _is_answered(node: BaseNode, run: NodeRun) -> bool:
    """Say whether all questions of a node that takes answers as its output are answered."""
    return not node.rerun_on_resume and run.status is Status.PENDING and bool(run.questions) and not run.open_questions


def _take_answers(run: NodeRun) -> None:
    answers = run.answers
    run.output = next(iter(answers.values())) if len(answers) == 1 else answers
    run.complete(last_answer(run))
