"""Graphs drawn at random: forward edges, routes, bounded loops, joins, nesting, and every kind of node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import strategies as st

from adk_nb.workflow import DEFAULT_ROUTE, JoinNode, Workflow, node
from tests.workflow.random_nodes import PARENTS, Plan, Story, body, plans

WaitFor = Literal["all", "started", "any"] | int


@dataclass(frozen=True)
class Features:
    """What a drawn graph may have."""

    kinds: tuple[str, ...] = ("work", "work", "work", "sync", "ask", "ask again", "confirm", *PARENTS, "spread")
    fails: tuple[str, ...] = ("", "", "", "", "", "", "", "", "", "try", "turn", "process")
    joins: tuple[WaitFor, ...] = ("all", "all", "started", "any", 2)
    most_nodes: int = 5
    has_loops: bool = True
    fans_in: bool = True
    """Nodes that are no joins may have several predecessors, and run once for each arrival."""


EVERYTHING = Features()
TOLD_BY_EVENTS = Features(
    kinds=("work", "work", "work", "work", "work", "ask", "ask again", "gather", "sequence"),
    fails=("", "", "", "try"),
    joins=("all", "started"),
    fans_in=False,
)
"""What events alone tell enough of to go on from them."""


@dataclass(frozen=True)
class Maker:
    """A drawn graph, from which workflows are made, one for each process."""

    plans: tuple[Plan, ...]
    nested: tuple[Maker | None, ...]
    joins: tuple[WaitFor | None, ...]
    """What each node waits for; `None` for those that are no joins."""
    sources: tuple[tuple[int, ...], ...]
    labels: tuple[tuple[str | None, ...], ...]
    loop: int | None
    """The node that leads back to the first one."""
    limit: int | None
    """How many nodes may run at once."""
    most_node_runs: int | None = None
    """How many node runs may start before the run is stopped, to go on in another call."""
    answers_together: bool = False
    """All open questions are answered in one message."""

    def __call__(self, story: Story, name: str = "w") -> Workflow:
        """Return the workflow, whose nodes note in the story what they do."""
        made: list[Any] = [self._node(i, story, name) for i in range(len(self.plans))]
        edges: list[Any] = [("START", made[0])]
        for i, of in enumerate(self.sources):
            for j, route in zip(of, self.labels[i], strict=True):
                edges.append((made[j], made[i]) if route is None else (made[j], {route: made[i]}))
        if self.loop is not None:
            edges.append((made[self.loop], {"y": made[0]}))
        # One node gives the output, so that no two terminal ones contradict each other.
        terminal = set(range(len(made))) - {j for of in self.sources for j in of} - {self.loop}
        edges.extend((made[i], node(lambda node_input: None, name=f"{name}end{i}")) for i in sorted(terminal))
        return Workflow(name=name, edges=edges, max_concurrency=self.limit)

    def _node(self, i: int, story: Story, name: str) -> Any:
        own, nested, join = f"{name}{i}", self.nested[i], self.joins[i]
        if nested is not None:
            return nested(story, own)
        if join is not None:
            return JoinNode(name=own, wait_for=join)
        reads = tuple(f"{name}{j}" for j in self.sources[i] if j != self.loop)
        return body(own, self.plans[i], story, reads=reads)

    @property
    def is_racy(self) -> bool:
        """Values may legitimately meet in another order after a cut.

        So it is where a join takes whoever comes first, where a node without a join has several predecessors, and in a
        loop with anything side by side.
        """
        fans_in = any(len(of) > 1 and join is None for of, join in zip(self.sources, self.joins, strict=True))
        is_early = any(join not in (None, "all", "started") for join in self.joins)
        return fans_in or is_early or self._has_racy_loop or any(one.is_racy for one in self.nested if one is not None)

    @property
    def has_loop(self) -> bool:
        """It, or a graph in it, leads back."""
        return self.loop is not None or any(one.has_loop for one in self.nested if one is not None)

    @property
    def _has_racy_loop(self) -> bool:
        if self.loop is None:
            return False
        after = self.loop + 1
        is_chain = all(of == (i,) for i, of in enumerate(self.sources[1:]))
        # Without a label, the edge forward is followed beside the one back.
        return not is_chain or (after < len(self.plans) and self.labels[after][0] is None)


_FEWEST = st.integers(1, 2)


@st.composite
def makers(draw: st.DrawFn, features: Features = EVERYTHING, depth: int = 1) -> Maker:
    """Draw a graph.

    Args:
        draw: Hypothesis'.
        features: What it may have.
        depth: How deep graphs may be nested.
    """
    count = draw(st.integers(1, features.most_nodes if depth else 3))
    drawn = tuple(draw(plans(features.kinds, features.fails)) for _ in range(count))
    most_sources = 3 if 2 in features.joins else 2
    sources = [
        tuple(
            sorted(draw(st.sets(st.integers(0, i - 1), min_size=draw(_FEWEST) if i > 1 else 1, max_size=most_sources)))
        )
        if i
        else ()
        for i in range(count)
    ]
    policies = [*features.joins, *([None] if features.fans_in else [])]
    joins = [draw(st.sampled_from(policies)) if len(of) > 1 else None for of in sources]
    nested = [
        draw(makers(features, depth - 1)) if depth and join is None and draw(st.integers(0, 5)) == 0 else None
        for join in joins
    ]
    loops = [i for i in range(count) if nested[i] is None and joins[i] is None] if features.has_loops else []
    return Maker(
        plans=drawn,
        nested=tuple(nested),
        joins=tuple(joins),
        sources=tuple(sources),
        labels=tuple(tuple(draw(st.sampled_from([None, None, "x", DEFAULT_ROUTE])) for _ in of) for of in sources),
        loop=draw(st.sampled_from([None, None, *loops])),
        limit=draw(st.sampled_from([None, None, 1, 2])),
        most_node_runs=draw(st.sampled_from([None, None, 6, 9])),
        answers_together=draw(st.booleans()),
    )
