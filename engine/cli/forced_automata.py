"""The automaton of `forced`: as Graphviz text, as data, and as a token index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from engine.automata.dfa.dfa import ByteDfa
from engine.automata.labels import label
from engine.cli.output import print_json
from engine.compile import CompiledGrammar
from engine.decoding.forced.merging import MergedAutomaton, merge_forced
from engine.source import CancelToken
from engine.vocabulary import Vocabulary, visible

if TYPE_CHECKING:
    from engine.export import TokenIndex

MOST_INDEXED = 500


def print_index(grammar: CompiledGrammar, vocabulary: Vocabulary, cancel: CancelToken, *, as_json: bool) -> None:
    """Print `{state: {token: next}}`, one state per line with its tokens as text; wide states as a token count.

    Args:
        grammar: the grammar.
        vocabulary: the vocabulary of the tokens.
        cancel: cancels the computation.
        as_json: whether to print JSON instead.
    """
    from engine.export import build_token_index

    index = build_token_index(grammar, vocabulary, cancel=cancel)
    if as_json:
        print_json({str(state): {str(i): t for i, t in row.items()} for state, row in _rows(index)})
        return
    tokens = vocabulary.tokens
    for state, row in _rows(index):
        if not row:
            continue
        if len(row) > MOST_INDEXED:
            print(f"{state}: {{… {len(row):,} tokens …}}")
            continue
        words = ", ".join(f"{visible(tokens[token_id] or b'')}" for token_id in row)
        print(f"{state}: {{{', '.join(f'{token_id}: {after}' for token_id, after in row.items())}}}  {words}")


def _rows(index: TokenIndex) -> Iterator[tuple[int, dict[int, int]]]:
    for state, (ids, targets) in enumerate(zip(index.tokens, index.targets, strict=True)):
        yield state, dict(zip(ids.tolist(), targets.tolist(), strict=True))


def as_dot(dfa: ByteDfa, which: str) -> str:
    """Return the automaton `before` or `after` merging its forced runs, for Graphviz."""
    merged = merge_forced(dfa)
    if which == "after":
        states, accepting = merged.states, merged.accepting
        edges = [(edge.source, edge.target, edge.label) for edge in merged.edges]
    else:
        states = tuple(state.id for state in dfa.states)
        accepting = frozenset(state.id for state in dfa.states if state.accepting)
        edges = [(edge.source, edge.target, label(edge.ranges)) for edge in dfa.edges]
    lines = ["digraph {", "  rankdir=LR;", "  start [shape=point];"]
    lines += [f"  {state} [shape={'doublecircle' if state in accepting else 'circle'}];" for state in states]
    lines += [f"  start -> {merged.start};"]
    lines += [f'  {source} -> {target} [label="{_quoted(edge_label)}"];' for source, target, edge_label in edges]
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def merged_as_data(merged: MergedAutomaton) -> dict[str, Any]:
    """Return the automaton with forced runs merged, as data."""
    return {
        "start": merged.start,
        "states": list(merged.states),
        "accepting": sorted(merged.accepting),
        "states_before": merged.states_before,
        "edges_before": merged.edges_before,
        "edges": [
            {
                "source": edge.source,
                "target": edge.target,
                "bytes": [list(pair) for pair in edge.ranges],
                "then": list(edge.rest),
                "label": edge.label,
                "through": list(edge.through),
            }
            for edge in merged.edges
        ],
    }
