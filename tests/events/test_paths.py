"""Paths and branches: where in the tree something ran."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adk_nb.events.paths import child_branch, child_path, common_branch, last_segment, node_names, parent_path

names = st.text(st.characters(exclude_characters="/@.", codec="utf-8"), min_size=1, max_size=6)
steps = st.lists(st.tuples(names, names), min_size=1, max_size=5)


@given(steps)
def test_paths_are_taken_apart_as_they_were_built(taken: list[tuple[str, str]]) -> None:
    """A path built step by step gives back its parent, its last step and its node names."""
    paths = [""]
    for name, run_id in taken:
        paths.append(child_path(paths[-1], name, run_id))
    assert (parent_path(paths[-1]), last_segment(paths[-1])) == (paths[-2], taken[-1])
    assert node_names(paths[-1]) == tuple(name for name, _ in taken)


def test_root_has_nothing_above() -> None:
    """The empty path has no parent, no last step and no names."""
    assert (parent_path(""), last_segment(""), node_names("")) == ("", ("", ""), ())


@given(steps, steps, steps)
def test_common_branch_is_the_shared_beginning(
    shared: list[tuple[str, str]], one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    """Branches that part after a shared beginning have that beginning in common."""

    def branch(taken: list[tuple[str, str]]) -> str | None:
        found: str | None = None
        for name, run_id in taken:
            found = child_branch(found, name, run_id)
        return found

    trunk, left, right = branch(shared), branch([*shared, *one]), branch([*shared, *other])
    assert common_branch([left, left]) == left
    if one[0] != other[0]:
        assert common_branch([left, right]) == trunk
    assert common_branch([left, trunk]) == trunk
    assert common_branch([left, None]) is None
    assert common_branch([]) is None
