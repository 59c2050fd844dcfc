"""The stacks of a match, as the window lists them.

A nondeterministic match is split into its stacks (`ByteAutomaton.split_stacks`); the report has what each one expects,
and, if rules are kept, its frames.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from app.workers.compile_messages import OpenFrame, OpenStack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.automata.nfa.stack_listing import StackFrame
    from engine.compile import CompiledGrammar
    from engine.source import SourceText, Span

MOST_STACKS = 20
_HOLDERS = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
_WIDTH = 60


def stack_report(grammar: CompiledGrammar, output: bytes) -> tuple[tuple[OpenStack, ...], int]:
    """Return the stacks after a text, and how many more there are at least; none if no match begins with it."""
    from engine.automata.byte_automaton import DEAD

    automaton = grammar.automaton
    configuration = automaton.run(automaton.start, output)
    if configuration == DEAD:
        return (), 0
    # One more than is listed: the stacks beyond the limit come as one.
    parts = automaton.split_stacks(configuration, MOST_STACKS + 1)
    found = list(dict.fromkeys(stack for part in parts[:MOST_STACKS] for stack in _stacks(grammar, part)))
    return tuple(found[:MOST_STACKS]), max(0, len(parts) - MOST_STACKS) + len(found[MOST_STACKS:])


def _stacks(grammar: CompiledGrammar, configuration: int) -> tuple[OpenStack, ...]:
    from engine.automata.labels import label
    from engine.automata.nfa.lazy_automaton import LazyAutomaton

    automaton = grammar.automaton
    expects = [label(ranges, _WIDTH)] if (ranges := tuple(automaton.expected(configuration))) else []
    expects += [grammar.source.excerpt(tokens.span) for tokens in automaton.token_sets(configuration)]
    expected, may_end = " ".join(expects), automaton.accepts(configuration)
    if isinstance(automaton, LazyAutomaton) and grammar.notation == "gbnf":
        listed = automaton.stacks(configuration, 1).stacks
        frames = _frames(listed[0].frames if listed else ())
        return (OpenStack(frames, expected, may_end, listed[0].left_out if listed else 0),)
    position_frames = _position_frames(grammar, configuration)
    return tuple(OpenStack(frames, expected, may_end) for frames in position_frames or [()])


def _frames(frames: Sequence[StackFrame]) -> tuple[OpenFrame, ...]:
    return tuple(OpenFrame(frame.rule, frame.spans, frame.may_end) for frame in reversed(frames))


def _position_frames(grammar: CompiledGrammar, configuration: int) -> list[tuple[OpenFrame, ...]]:
    """List the positions of a grammar without rules: the parts of a pattern, or of a schema, that may come next."""
    from engine.notations.json_schema.pointers import pointers

    spans = grammar.automaton.spans(configuration)
    if grammar.notation != "json_schema":
        return [(OpenFrame(grammar.source.excerpt(span), (span,)),) for span in spans]
    found = [
        _schema_frames(grammar.source, pointer, span) for span in spans for pointer in pointers(grammar.source, [span])
    ]
    if found or grammar.automaton.accepts(configuration):
        return found
    root = _schemas(grammar.source.text).get("")  # nothing is read yet, or white space at the root
    return [(OpenFrame("#", () if root is None else (root,)),)]


def _schema_frames(source: SourceText, pointer: str, span: Span) -> tuple[OpenFrame, ...]:
    """Return the frame of a position in a schema, and those of the schemas around it, the innermost first."""
    known, parts = _schemas(source.text), pointer.split("/")
    outer = ("/".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))
    frames = [OpenFrame(f"#{name}", (known[name],)) for name in outer if name in known]
    return (OpenFrame(f"#{pointer}", (span,)), *frames)


@lru_cache(maxsize=2)
def _schemas(text: str) -> dict[str, Span]:
    """Return the first character of each object that may be a schema, by pointer; not of keywords with several."""
    from engine.notations.json_schema.json_tree import read_json
    from engine.source import Span

    found: dict[str, Span] = {}
    pending = [(read_json(text), "", True)]
    while pending:
        value, pointer, is_schema = pending.pop()
        if is_schema and value.members:
            found[pointer] = Span(value.span.start, value.span.start + 1)
        for name, member in value.members.items():
            below = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            pending.append((member, below, not (is_schema and name in _HOLDERS)))
        pending += ((item, f"{pointer}/{index}", True) for index, item in enumerate(value.items))
    return found
