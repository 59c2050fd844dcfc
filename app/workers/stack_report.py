"""The stacks that a match stands on, as the window lists them.

A match that is nondeterministic is taken apart (`Runtime.split`); each stack is
asked what it expects, and where rules are kept, which frames it consists of.
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
    """The stacks after a text, and how many more there are at least; none where no match begins so."""
    from engine.automata.byte_automaton import DEAD

    automaton = grammar.automaton
    configuration = automaton.run(automaton.start, output)
    if configuration == DEAD:
        return (), 0
    # One more than is listed: behind the limit the rest comes as one.
    parts = automaton.split_stacks(configuration, MOST_STACKS + 1)
    found = list(dict.fromkeys(stack for part in parts[:MOST_STACKS] for stack in _stacks(grammar, part)))
    return tuple(found[:MOST_STACKS]), max(0, len(parts) - MOST_STACKS) + len(found[MOST_STACKS:])


def _stacks(grammar: CompiledGrammar, configuration: int) -> tuple[OpenStack, ...]:
    from engine.automata.labels import label
    from engine.automata.nfa.lazy_automaton import LazyAutomaton

    automaton = grammar.automaton
    expects = [label(ranges, _WIDTH)] if (ranges := tuple(automaton.expected(configuration))) else []
    expects += [grammar.source.excerpt(tokens.span) for tokens in automaton.token_sets(configuration)]
    says, may_end = " ".join(expects), automaton.accepts(configuration)
    if isinstance(automaton, LazyAutomaton) and grammar.notation == "gbnf":
        listed = automaton.stacks(configuration, 1).stacks
        frames = _frames(listed[0].frames if listed else ())
        return (OpenStack(frames, says, may_end, listed[0].left_out if listed else 0),)
    places = _places(grammar, configuration)
    return tuple(OpenStack(frames, says, may_end) for frames in places or [()])


def _frames(frames: Sequence[StackFrame]) -> tuple[OpenFrame, ...]:
    return tuple(OpenFrame(frame.rule, frame.spans, frame.may_end) for frame in reversed(frames))


def _places(grammar: CompiledGrammar, configuration: int) -> list[tuple[OpenFrame, ...]]:
    """Of a grammar without rules: each piece of a pattern, or place in a schema, that may come next."""
    from engine.notations.json_schema.pointers import pointers

    spans = grammar.automaton.spans(configuration)
    if grammar.notation != "json_schema":
        return [(OpenFrame(grammar.source.excerpt(span), (span,)),) for span in spans]
    found = [_within(grammar.source, pointer, span) for span in spans for pointer in pointers(grammar.source, [span])]
    if found or grammar.automaton.accepts(configuration):
        return found
    root = _schemas(grammar.source.text).get("")  # nothing is read yet, or white space within the root
    return [(OpenFrame("#", () if root is None else (root,)),)]


def _within(source: SourceText, pointer: str, span: Span) -> tuple[OpenFrame, ...]:
    """A place in a schema, and the schemas around it, the innermost first."""
    known, parts = _schemas(source.text), pointer.split("/")
    outer = ("/".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))
    frames = [OpenFrame(f"#{name}", (known[name],)) for name in outer if name in known]
    return (OpenFrame(f"#{pointer}", (span,)), *frames)


@lru_cache(maxsize=2)
def _schemas(text: str) -> dict[str, Span]:
    """The first character of each object that may be a schema, by its pointer: not of keywords that hold several."""
    from engine.notations.json_schema.json_tree import read_json
    from engine.source import Span

    found: dict[str, Span] = {}
    todo = [(read_json(text), "", True)]
    while todo:
        value, pointer, is_schema = todo.pop()
        if is_schema and value.members:
            found[pointer] = Span(value.span.start, value.span.start + 1)
        for name, member in value.members.items():
            below = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            todo.append((member, below, not (is_schema and name in _HOLDERS)))
        todo += ((item, f"{pointer}/{index}", True) for index, item in enumerate(value.items))
    return found
