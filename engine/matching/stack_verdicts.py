"""What each stack of a match expects, and where each ends on some bytes.

A match that is nondeterministic stands at several places at once. Taken apart
(`ByteAutomaton.split`), each is followed by itself: it reads a byte, or it is told of
with what it wanted. So an answer names every rule that might have gone on, not
only those that came farthest.
"""

from __future__ import annotations

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.automata.nfa.stack_listing import ONLY_RULE
from engine.compile import CompiledGrammar
from engine.matching.explanation import StackVerdict
from engine.notations.json_schema.pointers import pointers
from engine.source import Span

MOST_STACKS = 20
"""So many are told apart; where there are more, the last verdict is about all of the rest together."""


def stack_verdicts_of(grammar: CompiledGrammar, configuration: int, data: bytes = b"") -> tuple[StackVerdict, ...]:
    """What becomes of every stack of a configuration, those that come farthest first."""
    automaton = grammar.automaton
    found: dict[StackVerdict, None] = {}
    alive = automaton.split_stacks(configuration, MOST_STACKS)
    for offset, byte in enumerate(data):
        following: dict[int, None] = {}
        for stack in alive:
            after = automaton.run(stack, bytes((byte,)))
            if after == DEAD:
                found[_verdict(grammar, stack, offset)] = None
            else:
                parts = automaton.split_stacks(after, max(1, MOST_STACKS - len(following)))
                following.update(dict.fromkeys(parts))
        alive = tuple(following)
    found.update(dict.fromkeys(_verdict(grammar, stack, None) for stack in alive))
    return tuple(sorted(found, key=lambda one: (-len(data) if one.offset is None else -one.offset, one.spans)))


def elements(automaton: ByteAutomaton, grammar: CompiledGrammar, configuration: int) -> tuple[str, ...]:
    """The token elements that may come next, as they are written."""
    spans = sorted(tokens.span for tokens in automaton.token_sets(configuration))
    return tuple(grammar.source.excerpt(span) for span in spans)


def _verdict(grammar: CompiledGrammar, stack: int, offset: int | None) -> StackVerdict:
    automaton = grammar.automaton
    spans, properties = automaton.spans(stack), automaton.next_properties(stack)
    return StackVerdict(
        offset,
        expected=tuple(automaton.expected(stack)),
        accepting=automaton.accepts(stack),
        rules=_names(grammar, stack, spans),
        spans=spans,
        tokens=elements(automaton, grammar, stack),
        properties=properties.names,
        other_properties=properties.others,
    )


def _names(grammar: CompiledGrammar, stack: int, spans: tuple[Span, ...]) -> tuple[str, ...]:
    match grammar.notation:
        case "json_schema":
            return pointers(grammar.source, spans)
        case "gbnf":
            return grammar.automaton.open_rules(stack) or (ONLY_RULE,)
        case _:
            return ()
