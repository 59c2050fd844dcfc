"""Verdicts on the individual stacks of a configuration: how far each reads some bytes, and what it expects.

A nondeterministic match has several stacks at once. `ByteAutomaton.split_stacks`
separates them, and each is then advanced on its own until it cannot read a byte.
So the verdicts name every rule that could have continued, not only those that
read farthest.
"""

from __future__ import annotations

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.automata.nfa.stack_listing import ONLY_RULE
from engine.compile import CompiledGrammar
from engine.matching.explanation import StackVerdict
from engine.notations.json_schema.json_tree import pointers
from engine.source import Span

MOST_STACKS = 20
"""How many stacks get a verdict of their own; the last verdict covers all of the rest together."""


def stack_verdicts_of(grammar: CompiledGrammar, configuration: int, data: bytes = b"") -> tuple[StackVerdict, ...]:
    """Return the verdict of every stack of a configuration on some bytes, those that read farthest first.

    Args:
        grammar: the grammar.
        configuration: the configuration before the bytes.
        data: the bytes; without bytes the verdicts are about what is allowed next.
    """
    automaton = grammar.automaton
    found: dict[StackVerdict, None] = {}
    stacks = automaton.split_stacks(configuration, MOST_STACKS)
    for offset, byte in enumerate(data):
        next_stacks: dict[int, None] = {}
        for stack in stacks:
            after = automaton.run(stack, bytes((byte,)))
            if after == DEAD:
                found[_verdict(grammar, stack, offset)] = None
            else:
                parts = automaton.split_stacks(after, max(1, MOST_STACKS - len(next_stacks)))
                next_stacks.update(dict.fromkeys(parts))
        stacks = tuple(next_stacks)
    found.update(dict.fromkeys(_verdict(grammar, stack, None) for stack in stacks))
    return tuple(sorted(found, key=lambda one: (-len(data) if one.offset is None else -one.offset, one.spans)))


def elements(automaton: ByteAutomaton, grammar: CompiledGrammar, configuration: int) -> tuple[str, ...]:
    """Return the token elements that are allowed next.

    Args:
        automaton: the automaton of the grammar.
        grammar: the grammar.
        configuration: the current configuration.

    Returns:
        The elements as written in the source, in source order.
    """
    spans = sorted(tokens.span for tokens in automaton.token_sets(configuration))
    return tuple(grammar.source.excerpt(span) for span in spans)


def _verdict(grammar: CompiledGrammar, stack: int, offset: int | None) -> StackVerdict:
    automaton = grammar.automaton
    spans, properties = automaton.spans(stack), automaton.next_properties(stack)
    return StackVerdict(
        offset,
        expected=tuple(automaton.expected(stack)),
        accepting=automaton.accepts(stack),
        rules=_rule_names(grammar, stack, spans),
        spans=spans,
        tokens=elements(automaton, grammar, stack),
        properties=properties.names,
        other_properties=properties.others,
    )


def _rule_names(grammar: CompiledGrammar, stack: int, spans: tuple[Span, ...]) -> tuple[str, ...]:
    if grammar.describes_json:
        return pointers(grammar.source, spans)
    if grammar.has_named_rules:
        return grammar.automaton.open_rules(stack) or (ONLY_RULE,)
    return ()
