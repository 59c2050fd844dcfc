"""What the rules come to as a whole: names that are missing, rules that are of no use, cycles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from engine.grammar import Choice, Grammar, Look, Node, Reference, Repeat, Rule, Sequence
from engine.grammar.nodes import parts
from engine.grammar.simplify import matches_empty, nullable_rules, productive_rules
from engine.source import Diagnostic, Severity, SourceText, Span

START = "root"


def check(rules: Mapping[str, Rule], source: SourceText, findings: list[Diagnostic]) -> Grammar | None:
    """Add the findings about the rules as a whole; the grammar, or None where a rule is missing."""
    findings += _undefined(rules)
    if START not in rules:
        span = Span(0, min(1, len(source.text)))
        hint = f"Name the rule to begin with `{START}`" if rules else f"Begin with `{START} ::= …`"
        findings.append(_finding("no-root", Severity.ERROR, span, f"there is no rule `{START}`", hint))
        return None
    if any(finding.severity is Severity.ERROR for finding in findings):
        return None
    grammar = Grammar(tuple(rules.values()), START)
    findings += _unreachable(rules)
    findings += _unproductive(rules)
    findings += _left_recursive(grammar)
    return grammar


def _finding(code: str, severity: Severity, span: Span, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(f"gbnf-{code}", severity, span, message, hint)


def _references(node: Node) -> Iterable[Reference]:
    return (part for part in parts(node) if isinstance(part, Reference))


def _undefined(rules: Mapping[str, Rule]) -> Iterable[Diagnostic]:
    for rule in rules.values():
        for reference in _references(rule.node):
            if reference.name not in rules:
                near = get_close_matches(reference.name, rules, 1)
                hint = f"Did you mean `{near[0]}`?" if near else f"Add `{reference.name} ::= …`"
                message = f"there is no rule `{reference.name}`"
                yield _finding("undefined-rule", Severity.ERROR, reference.span, message, hint)


def _unreachable(rules: Mapping[str, Rule]) -> Iterable[Diagnostic]:
    reached, todo = {START}, [START]
    while todo:
        for reference in _references(rules[todo.pop()].node):
            if reference.name not in reached:
                reached.add(reference.name)
                todo.append(reference.name)
    for name, rule in rules.items():
        if name not in reached:
            message = f"nothing that `{START}` leads to uses the rule `{name}`"
            yield _finding("unreachable-rule", Severity.WARNING, rule.span, message, "Use it, or remove it")


def _unproductive(rules: Mapping[str, Rule]) -> Iterable[Diagnostic]:
    productive = productive_rules({name: rule.node for name, rule in rules.items()})
    needs = {
        name: [reference.name for reference in _references(rule.node) if reference.name not in productive]
        for name, rule in rules.items()
        if name not in productive
    }
    for name, others in needs.items():
        cycle = _cycle(name, needs) if others else []
        message = f"the rule `{name}` matches nothing"
        message += f": it never ends, by {_arrows(cycle)}" if cycle else ""
        hint = "Give it an alternative that does not lead back to it"
        yield _finding("unproductive-rule", Severity.WARNING, rules[name].span, message, hint)


def _left_recursive(grammar: Grammar) -> Iterable[Diagnostic]:
    nullable = nullable_rules(grammar)
    begins = {rule.name: list(dict.fromkeys(_first_names(rule.node, nullable))) for rule in grammar.rules}
    for rule in grammar.rules:
        cycle = _cycle(rule.name, begins)
        if cycle:
            message = f"llama.cpp refuses left recursion: {_arrows(cycle)}"
            hint = f"It works here; for llama.cpp, write `{rule.name}` with `*` instead"
            yield _finding("compat-left-recursion", Severity.HINT, rule.span, message, hint)


def _first_names(node: Node, nullable: frozenset[str]) -> Iterable[str]:
    """The rules that a node may begin with."""
    match node:
        case Reference():
            yield node.name
        case Sequence():
            for item in node.items:
                yield from _first_names(item, nullable)
                if matches_empty(item, None, None, nullable) is not True:
                    break
        case Choice():
            for alternative in node.alternatives:
                yield from _first_names(alternative, nullable)
        case Repeat() | Look():
            yield from _first_names(node.node, nullable)


def _cycle(start: str, leads_to: Mapping[str, list[str]]) -> list[str]:
    """The shortest way from a rule back to itself; empty where there is none."""
    came_from: dict[str, str] = {}
    todo = [start]
    for name in todo:
        for other in leads_to.get(name, ()):
            if other == start:
                way = [start, name]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if other not in came_from:
                came_from[other] = name
                todo.append(other)
    return []


def _arrows(cycle: list[str]) -> str:
    return " → ".join(f"`{name}`" for name in cycle)
