"""What the time of each node run went into, from records: work, waiting, and what is left; it always adds up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from adk_nb.events.record import NodeRun, Status
from adk_nb.frames.intervals import Interval, merge, waits_of, within, without

WORK, PERSON, RETRY, STOPPED, FRAMEWORK = "work", "person", "retry", "stopped", "framework"
KINDS = (WORK, PERSON, RETRY, STOPPED, FRAMEWORK)
"""What a stretch of time went into, where several fit the first.

`work`: the node, or one below it, was at work. `person`: it could only wait for a person's answer. `retry`: it could
only wait for the time of the next try. `stopped`: nothing was there to run it, between a failure, a stop or a crash and
the call that went on with it. `framework`: what is left, which the engine and the store took.
"""
_OPEN = (Status.RUNNING, Status.WAITING, Status.PENDING, Status.GATHERING)
_HOLDS_ONLY = ("workflow", "parallel")
"""Kinds whose own time isn't work: they only hold what runs below them."""

Key = tuple[str, str]


class Stretch(NamedTuple):
    """One stretch of a node run's time; times are seconds since the epoch."""

    what: str
    """One of `KINDS`."""
    start: float
    end: float


@dataclass(slots=True)
class Span:
    """A node run's time, from its first start to its end, in stretches without gap or overlap."""

    run: NodeRun
    stretches: list[Stretch]

    def seconds(self, what: str) -> float:
        """Return how long it was in all that its time went into this."""
        return sum(one.end - one.start for one in self.stretches if one.what == what)

    @property
    def total(self) -> float:
        """Seconds from its first start to its end."""
        return self.stretches[-1].end - self.stretches[0].start if self.stretches else 0.0


@dataclass(slots=True)
class _Parts:
    """What is known of a run's time, with everything below it."""

    whole: list[Interval]
    work: list[Interval]
    person: list[Interval]
    retry: list[Interval]
    stopped: list[Interval]


def key_of(run: NodeRun) -> Key:
    """Return what names a run among those of several invocations."""
    return run.invocation_id, run.path


def spans_of(runs: Sequence[NodeRun], now: float, seen: float | None = None) -> dict[Key, Span]:
    """Return the time of each node run, by invocation and path.

    Args:
        runs: Records of whole invocations.
        now: Until when a question that is open is waited for, in seconds since the epoch.
        seen: Until when a run that is at work is known to be; `None` is `now`.

    Example:
        >>> from adk_nb.events.record import Attempt
        >>> tries = (Attempt(0.0, 1.0, "ValueError", "no", 3.0), Attempt(3.0, 4.0))
        >>> run = NodeRun("a@1", "a", "1", "", "e", Status.COMPLETED, started_at=0.0, ended_at=4.0, attempts=tries)
        >>> [tuple(stretch) for stretch in spans_of([run], 9.0)["e", "a@1"].stretches]
        [('work', 0.0, 1.0), ('retry', 1.0, 3.0), ('work', 3.0, 4.0)]
    """
    return Spans(runs).all(now, seen)


class Spans:
    """The times of node runs as their records come in, in any order and again whenever one changes.

    Taking a record in costs the same however many there are; what is asked for is worked out anew only where something
    below it has changed or is open.

    Example:
        >>> spans = Spans()
        >>> spans.put(NodeRun("a@1", "a", "1", "", "e", Status.RUNNING, started_at=1.0))
        >>> spans.of(("e", "a@1"), now=3.0).total
        2.0
        >>> spans.put(NodeRun("a@1", "a", "1", "", "e", Status.COMPLETED, started_at=1.0, ended_at=2.0))
        >>> spans.of(("e", "a@1"), now=9.0).total
        1.0
    """

    def __init__(self, runs: Iterable[NodeRun] = ()) -> None:
        self._runs: dict[Key, NodeRun] = {}
        self._below: dict[Key, dict[Key, None]] = {}
        self._settled: dict[Key, _Parts] = {}
        """Parts that time doesn't change any more; then nothing below is open either."""
        for run in runs:
            self.put(run)

    def __contains__(self, key: Key) -> bool:
        return key in self._runs

    def __iter__(self) -> Iterator[Key]:
        return iter(self._runs)

    def put(self, run: NodeRun) -> None:
        """Take a record in, in place of an earlier form of it."""
        key, above = key_of(run), (run.invocation_id, run.parent)
        self._below.setdefault(above, {})[key] = None
        self._runs[key] = run
        self._settled.pop(key, None)
        while self._settled.pop(above, None) is not None:
            above = above[0], self._runs[above].parent

    def of(self, key: Key, now: float, seen: float | None = None) -> Span:
        """Return the time of one run; `now` and `seen` as in `spans_of`.

        Raises:
            KeyError: there is no record of it.
        """
        return self._span(key, now, now if seen is None else seen, {})

    def all(self, now: float, seen: float | None = None) -> dict[Key, Span]:
        """Return the time of each run, in the order in which they first came."""
        found: dict[Key, _Parts] = {}
        return {key: self._span(key, now, now if seen is None else seen, found) for key in self._runs}

    def _span(self, key: Key, now: float, known: float, found: dict[Key, _Parts]) -> Span:
        return Span(self._runs[key], list(_stretches(self._parts(key, now, known, found))))

    def _parts(self, key: Key, now: float, known: float, found: dict[Key, _Parts]) -> _Parts:
        """Return the parts of one run, of those below it first; `found` holds what was worked out for this moment."""
        left = [key]
        while left:
            at = left[-1]
            below = self._below.get(at, ())
            missing = [child for child in below if child not in found and child not in self._settled]
            if at in found or at in self._settled:
                left.pop()
            elif missing:
                left += missing
            else:
                left.pop()
                run = self._runs[at]
                parts = _parts(run, [self._settled.get(child) or found[child] for child in below], now, known)
                is_settled = _has_ended(run) and all(child in self._settled for child in below)
                (self._settled if is_settled else found)[at] = parts
        return self._settled.get(key) or found[key]


def _has_ended(run: NodeRun) -> bool:
    is_told = all(question.is_answered and question.answered_at is not None for question in run.questions)
    return run.status not in _OPEN and run.ended_at is not None and is_told


def _parts(run: NodeRun, below: list[_Parts], now: float, known: float) -> _Parts:
    tries = _tries(run, known)
    whole = _whole(run, tries, now, known)
    # What was waited for beyond the run's end, the try after a stop or an answer after a crash, nobody waited for here.
    person = merge([*within(waits_of(run, now), whole), *(one for child in below for one in child.person)])
    own: list[Interval] = []
    if run.kind not in _HOLDS_ONLY or not below:
        busy_below = merge(one for child in below for one in child.whole)
        waits = waits_of(run, now)
        for start, end in merge(tries):
            inside = [wait for wait in waits if start <= wait[0] and wait[1] <= end]
            own += without(without([(start, end)], inside), busy_below)
    retry = [
        (one.ended_at, min(one.retry_at, tries[i + 1][0]) if i + 1 < len(tries) else one.retry_at)
        for i, one in enumerate(run.attempts)
        if one.ended_at is not None and one.retry_at is not None
    ]
    waiting = merge([*person, *retry])
    retry = within(merge(retry), whole)
    # A gap in which an answer or a try's time was waited for: what is left of it is what going on took.
    gaps = [gap for gap in _between(tries) if without([gap], waiting) == [gap]]
    return _Parts(
        whole=whole,
        work=merge([*own, *(one for child in below for one in child.work)]),
        person=person,
        retry=merge([*retry, *(one for child in below for one in child.retry)]),
        stopped=gaps,
    )


def _between(tries: list[Interval]) -> list[Interval]:
    """Return the stretches between tries."""
    return without(merge([(tries[0][0], tries[-1][1])]), merge(tries)) if tries else []


def _tries(run: NodeRun, known: float) -> list[Interval]:
    """Return when a run was tried; a try that a crash cut off has no known length."""
    tries: list[Interval] = []
    for place, one in enumerate(run.attempts):
        if one.ended_at is not None:
            end = one.ended_at
        elif place + 1 < len(run.attempts):
            end = one.started_at
        else:
            end = _end(run, known, known)
        tries.append((one.started_at, max(one.started_at, end)))
    if not tries and run.started_at is not None:
        tries = [(run.started_at, _end(run, known, known))]
    return tries


def _whole(run: NodeRun, tries: list[Interval], now: float, known: float) -> list[Interval]:
    if run.started_at is None:
        return []
    end = max(_end(run, now, known), *(end for _, end in tries)) if tries else _end(run, now, known)
    return [(run.started_at, max(run.started_at, end))]


def _end(run: NodeRun, now: float, known: float) -> float:
    if run.status is Status.WAITING or run.open_questions:
        return now
    if run.status in _OPEN:
        return known
    if run.ended_at is not None:
        return run.ended_at
    ends = [one.ended_at for one in run.attempts if one.ended_at is not None]
    return max(ends, default=known)


def _stretches(parts: _Parts) -> Iterator[Stretch]:
    found: list[Stretch] = []
    left = parts.whole
    for what, intervals in zip(KINDS, (parts.work, parts.person, parts.retry, parts.stopped), strict=False):
        rest = without(left, intervals)
        found += (Stretch(what, start, end) for start, end in without(left, rest))
        left = rest
    found += (Stretch(FRAMEWORK, start, end) for start, end in left)
    if not found and parts.whole:
        found = [Stretch(WORK, *parts.whole[0])]  # it took no time at all
    yield from sorted(found, key=lambda one: (one.start, one.end))


@dataclass(frozen=True, slots=True)
class Times:
    """What the seconds of runs went into; `total` is their sum."""

    work: float = 0.0
    person: float = 0.0
    """Waiting for a person."""
    retry: float = 0.0
    """Waiting for the time of the next try."""
    stopped: float = 0.0
    """Nothing was there to run it: after a failure, a stop or a crash."""
    framework: float = 0.0

    @property
    def total(self) -> float:
        """Seconds from start to end."""
        return self.work + self.person + self.retry + self.stopped + self.framework


def times_of(runs: Sequence[NodeRun], now: float, seen: float | None = None) -> Times:
    """Return what the time of whole invocations went into, as their roots tell it."""
    spans = [span for span in spans_of(runs, now, seen).values() if not span.run.parent]
    return Times(*(sum(span.seconds(what) for span in spans) for what in KINDS))
