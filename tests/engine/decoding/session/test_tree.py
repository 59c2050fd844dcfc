"""The tree of steps by itself."""

from __future__ import annotations

import pytest

from engine.decoding.session.tree import StepTree
from engine.decoding.values import Step, Trace, TraceNode
from engine.source import InvariantError


def step(token_id: int) -> Step:
    return Step(token_id, b"x", "", 0.5, 0.5, 1.0, 2, forced=False, wanted_id=0, origin="user", configuration=1)


def grown(*token_ids: int) -> StepTree:
    tree = StepTree()
    for token_id in token_ids:
        tree.push(step(token_id))
    return tree


def test_steps_form_a_path():
    tree = grown(4, 5, 6)
    assert tree.path == (0, 1, 2)
    assert tree.current == 2
    assert [taken.token_id for taken in tree.taken()] == [4, 5, 6]


def test_what_is_taken_back_stays_in_view_until_another_step_replaces_it():
    tree = grown(4, 5, 6)
    tree.move_to_depth(1)
    assert tree.path == (0, 1, 2)
    assert tree.current == 0
    tree.push(step(7))
    assert tree.path == (0, 3)
    assert tree.node(1).parent == 0
    assert [node.id for node in tree.children(0)] == [1, 3]


def test_stepping_again_along_a_known_path_makes_no_copies():
    tree = grown(4, 5, 6)
    tree.move_to_depth(0)
    tree.push(step(4))
    assert len(tree) == 3
    assert tree.path == (0, 1, 2)
    assert tree.depth == 1


def test_going_to_another_branch_shows_it_to_its_newest_end():
    tree = grown(4, 5, 6)
    tree.move_to_depth(1)
    tree.push(step(7))
    tree.go_to(1)
    assert tree.path == (0, 1, 2)
    assert tree.current == 1
    tree.go_to(None)
    assert tree.current is None
    assert tree.path == (0, 1, 2)


def test_a_trace_is_a_value_with_parents_before_children():
    tree = grown(4, 5)
    trace = tree.trace()
    tree.push(step(6))
    assert len(trace.nodes) == 2
    assert all(node.parent is None or node.parent < node.id for node in trace.nodes)


def test_places_that_are_not_there_are_refused():
    tree = grown(4)
    with pytest.raises(InvariantError):
        tree.go_to(9)
    with pytest.raises(InvariantError):
        tree.move_to_depth(2)


def test_a_tree_grows_from_its_trace():
    tree = grown(4, 5, 6)
    tree.move_to_depth(1)
    tree.push(step(7))
    tree.push(step(8))
    tree.move_to_depth(1)
    again = StepTree.grown_from(tree.trace(), lambda _step: True)
    assert again.trace() == tree.trace()
    assert again.depth == 1
    again.push(step(7))
    assert again.path == (0, 3, 4)


def test_a_step_that_is_not_kept_takes_what_follows_along():
    tree = StepTree.grown_from(grown(4, 5, 6).trace(), lambda kept: kept.token_id != 5)
    assert (len(tree), tree.path, tree.current) == (1, (0,), 0)


def test_a_trace_in_any_numbering_is_understood():
    nodes = (TraceNode(9, None, step(4)), TraceNode(3, 9, step(5)), TraceNode(7, 9, step(5)), TraceNode(1, 7, step(6)))
    tree = StepTree.grown_from(Trace(nodes, (9, 7, 1), 7), lambda _step: True)
    assert [node.step.token_id for node in tree.trace().nodes] == [4, 5, 6]  # equal steps are one
    assert (tree.path, tree.current) == ((0, 1, 2), 1)
