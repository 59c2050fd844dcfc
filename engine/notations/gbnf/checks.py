"""Checks of the rules together: undefined names, useless rules, cycles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from engine.grammar import Choice, Empty, Grammar, Never, Node, Repeat, Rule, RuleReference
from engine.grammar.analysis import blockers, left_recursion
from engine.grammar.rule_facts import JoinedFacts, RuleFacts
from engine.source import Diagnostic, Severity, SourceText, Span, checkpoint, diagnostic, similar_words

START: Final = "root"
_MOST_SUGGESTIONS: Final = 10  # each compares a name with all others
_LONGEST_CYCLE: Final = 8


def check_rules(
    rules: Mapping[str, Rule],
    source: SourceText,
    findings: Sequence[Diagnostic],
    facts: JoinedFacts,
    shifts: Mapping[str, int],
) -> tuple[Grammar | None, list[Diagnostic]]:
    """Add the findings about the rules together.

    Args:
        rules: the rules by name.
        source: the text.
        findings: the findings so far.
        facts: the facts about each rule.
        shifts: by how much the spans in a rule's node are before those in the text; by default, not at all.

    Returns:
        The grammar, with `Never` for rules that match nothing, or None after an error; and all findings.
    """
    found = [*findings, *_undefined(rules, facts.rules, shifts)]
    if START not in rules:
        found.append(_no_root(rules, source))
    if any(finding.severity is Severity.ERROR for finding in found):
        return None, found
    grammar = Grammar(tuple(rules.values()), START)
    known = facts.consequences(START)
    found += _unreachable(grammar, known.reachable)
    blocked = blockers(grammar) if len(known.productive) < len(rules) else {}
    found += _unproductive(rules, blocked)
    if known.is_left_recursive:
        found += _left_recursive(grammar)
    found += _empty_loops(rules, facts.rules, shifts)
    if blocked:
        live = (Rule(r.name, Never(r.node.span), r.span) if r.name in blocked else r for r in grammar.rules)
        grammar = Grammar(tuple(live), START)
    return grammar, found


def _no_root(rules: Mapping[str, Rule], source: SourceText) -> Diagnostic:
    span = Span(0, min(1, len(source.text)))
    near = next((name for name in rules if name.lower() == START), None)
    if near:
        return diagnostic("gbnf-no-root.upper-case", span, start=START, name=near)
    return diagnostic("gbnf-no-root.unnamed" if rules else "gbnf-no-root.empty", span, start=START)


def _undefined(
    rules: Mapping[str, Rule], facts: Mapping[str, RuleFacts], shifts: Mapping[str, int]
) -> Iterator[Diagnostic]:
    if frozenset[str]().union(*(own.names for own in facts.values())) <= rules.keys():
        return
    similar: dict[str, str | None] = {}
    for user, own in facts.items():
        checkpoint()
        if own.names <= rules.keys():
            continue
        for reference in own.references:
            name = reference.name
            if name in rules:
                continue
            if name not in similar:
                near = similar_words(name, rules, 1) if len(similar) < _MOST_SUGGESTIONS else []
                similar[name] = near[0] if near else None
            span = reference.span.moved(shifts.get(user, 0))
            if similar[name]:
                yield diagnostic("gbnf-undefined-rule.similar", span, name=name, similar=similar[name])
            else:
                yield diagnostic("gbnf-undefined-rule", span, name=name)


def _unreachable(grammar: Grammar, reached: frozenset[str]) -> Iterator[Diagnostic]:
    if len(reached) == len(grammar.rules):
        return
    for rule in grammar.rules:
        checkpoint()
        if rule.name not in reached:
            yield diagnostic("gbnf-unreachable-rule", rule.span, start=START, name=rule.name)


def _unproductive(rules: Mapping[str, Rule], blocked: Mapping[str, Node]) -> Iterator[Diagnostic]:
    cycles = _cycles(blocked)
    for name, blocker in blocked.items():
        span = rules[name].span
        if name in cycles:
            yield diagnostic("gbnf-unproductive-rule.cycle", span, name=name, cycle=_arrows(cycles[name]))
        elif isinstance(blocker, RuleReference):
            yield diagnostic("gbnf-unproductive-rule.reference", span, name=name, blocker=blocker.name)
        else:
            yield diagnostic("gbnf-unproductive-rule.empty-set", span, name=name)


def _cycles(blocked: Mapping[str, Node]) -> dict[str, tuple[str, ...]]:
    """Return the rules that wait for themselves, each with its cycle; every rule waits for at most one other."""
    cycles: dict[str, tuple[str, ...]] = {}
    seen: set[str] = set()
    for start in blocked:
        index_of: dict[str, int] = {}
        name = start
        while name not in seen:
            seen.add(name)
            index_of[name] = len(index_of)
            blocker = blocked[name]
            if not isinstance(blocker, RuleReference):
                break
            name = blocker.name
        else:
            if name in index_of:
                cycle = list(index_of)[index_of[name] :]
                if len(cycle) > _LONGEST_CYCLE:
                    cycles.update(dict.fromkeys(cycle, (*cycle, name)))
                else:
                    cycles |= {n: (*cycle[i:], *cycle[:i], n) for i, n in enumerate(cycle)}
    return cycles


def _left_recursive(grammar: Grammar) -> Iterator[Diagnostic]:
    spans = {rule.name: rule.span for rule in grammar.rules}
    for cycle in left_recursion(grammar):
        name = cycle.names[0]
        key = "gbnf-compat-left-recursion.hidden" if cycle.hidden else "gbnf-compat-left-recursion"
        yield diagnostic(key, spans[name], cycle=_arrows(cycle.names), name=name)


def _empty_loops(
    rules: Mapping[str, Rule], facts: Mapping[str, RuleFacts], shifts: Mapping[str, int]
) -> Iterator[Diagnostic]:
    """Yield hints for unbounded repetitions that llama.cpp refuses as left recursion, since their body may be empty."""
    for name, own in facts.items():
        for loop in own.loops:
            if _is_openly_empty(loop, rules):
                yield diagnostic("gbnf-compat-empty-loop", loop.span.moved(shifts.get(name, 0)))


def _is_openly_empty(loop: Repeat, rules: Mapping[str, Rule]) -> bool:
    node = loop.node
    # stacked, as in `x?*`; in parentheses it is a separate rule for llama.cpp, which does not count as empty
    if isinstance(node, Repeat):
        return node.minimum == 0 and node.maximum != 0 and node.span.start == loop.span.start
    if isinstance(node, RuleReference):
        node = rules[node.name].node
        return isinstance(node, Empty) or _has_empty_alternative(node)
    return _has_empty_alternative(node)


def _has_empty_alternative(node: Node) -> bool:
    return isinstance(node, Choice) and any(isinstance(part, Empty) for part in node.alternatives)


def _arrows(names: Sequence[str]) -> str:
    """Return a path of rules, shortened in the middle if it is long."""
    half = _LONGEST_CYCLE // 2
    if len(names) > _LONGEST_CYCLE + 1:
        return f"{_arrows(names[:half])} → … → {_arrows(names[-half:])}"
    return " → ".join(f"`{name}`" for name in names)
