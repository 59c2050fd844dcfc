"""Remove left recursion, which llama.cpp refuses, with Paull's algorithm (Hopcroft and Ullman, 1979, section 4.4).

Rules of a cycle are ordered; a rule that begins with an earlier one gets the alternatives of that rule in its place,
until it begins with itself alone. Then `A ::= A x | y` becomes `A ::= y x*`: both are the least language that contains
`y` and is closed under `x` at its end (Arden's rule), also where `x` or `y` contain `A` further on.

Groups and quantifiers at the beginning are expanded as far as needed. What hides the recursion behind a rule that may
be empty is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from engine.grammar.analysis import Cycle, left_recursion, nullable_rules
from engine.notations.editing import Edit, apply_edits
from engine.notations.editing.expressions import ChoiceText, ExpressionItem, ExpressionSyntax
from engine.refactoring.refactoring import GrammarSelection, RefactoringError, Rewrite
from engine.refactoring.rules import RuleRefactoring, RuleSource
from engine.source import checkpoint

_MOST_STEPS: Final = 500  # expansions of the alternatives of one rule
_MOST_ROUNDS: Final = 50
_COUNT: Final = re.compile(r"\{\s*(\d*)\s*(,?)\s*(\d*)\s*\}")


@dataclass(frozen=True, slots=True)
class _Part:
    """An item of an alternative.

    Attributes:
        atom: its text without quantifiers.
        quantifiers: their text; empty for none.
        reference: the rule that it names.
        group: the alternatives of a group.
    """

    atom: str
    quantifiers: str = ""
    reference: str = ""
    group: tuple[tuple[_Part, ...], ...] = ()

    @property
    def text(self) -> str:
        return self.atom + self.quantifiers


_Alternative = tuple[_Part, ...]


class RemoveLeftRecursion(RuleRefactoring):
    """Rewrites the left recursive rules of the cycle that the rule at the cursor is in; by default of all cycles."""

    id = "remove-left-recursion"

    def rewrite(self, selection: GrammarSelection) -> Rewrite:
        """Return the edits; see `Refactoring`."""
        first = RuleSource(selection)
        cycles = left_recursion(first.grammar)
        here = first.rule_at(selection.selected.start).name
        wanted = {here} if any(here in cycle.names for cycle in cycles) else set()
        if not cycles:
            raise RefactoringError("errors.refactoring.no_left_recursion")
        changed: dict[str, str] = {}
        source = first
        for _ in range(_MOST_ROUNDS):
            cycle = next((one for one in left_recursion(source.grammar) if not wanted or wanted & {*one.names}), None)
            if cycle is None:
                bodies = ((first.rule(name).body.span, body) for name, body in changed.items())
                edits = tuple(Edit(span, body) for span, body in bodies if first.of(span) != body)
                for edit in edits:
                    first.check_comments(edit.span)
                return Rewrite(edits)
            bodies_of = _Cycle(source, cycle).rewritten()
            changed |= bodies_of
            edits = tuple(Edit(source.rule(name).body.span, body) for name, body in bodies_of.items())
            source = RuleSource(replace(selection, text=apply_edits(source.selection.text, edits)))
        raise RefactoringError("errors.refactoring.left_recursion_size", name=here)


class _Cycle:
    """The rules of one cycle while they are rewritten."""

    def __init__(self, source: RuleSource, cycle: Cycle) -> None:
        self._source = source
        self._syntax: ExpressionSyntax = source.syntax
        self._nullable = nullable_rules(source.grammar)
        first, *others = dict.fromkeys(cycle.names)
        self._order = (*reversed(others), first)
        self._rules = {name: self._alternatives(source.rule(name).body) for name in self._order}

    def rewritten(self) -> dict[str, str]:
        """Return the new bodies of the rules that change."""
        found: dict[str, str] = {}
        for number, name in enumerate(self._order):
            before = self._rules[name]
            after = self._without_direct(name, self._expanded(name, {*self._order[:number]}))
            self._rules[name] = after
            if after != before:
                found[name] = self._text(after)
        return found

    def _alternatives(self, choice: ChoiceText) -> list[_Alternative]:
        return [tuple(map(self._part, one.items)) for one in choice.alternatives]

    def _part(self, item: ExpressionItem) -> _Part:
        atom, written = self._source.of(item.atom), self._source.of(item.span)
        group = () if item.group is None else tuple(self._alternatives(item.group))
        return _Part(atom, written[len(atom) :].strip(), item.reference, group)

    def _text(self, alternatives: list[_Alternative]) -> str:
        bar = f"{self._syntax.gap}|{self._syntax.gap}"
        texts = (self._syntax.gap.join(part.text for part in one) or self._syntax.empty for one in alternatives)
        return bar.join(dict.fromkeys(texts))

    def _group(self, alternatives: list[_Alternative], quantifier: str = "") -> _Alternative:
        """Return alternatives as items: as they are, or as a group."""
        if len(alternatives) == 1 and not quantifier:
            return alternatives[0]
        if len(alternatives) == 1 and len(alternatives[0]) == 1 and not alternatives[0][0].quantifiers:
            return (replace(alternatives[0][0], quantifiers=quantifier),)
        return (_Part(self._syntax.group(self._text(alternatives)), quantifier, group=tuple(alternatives)),)

    # --- the beginning of an alternative ------------------------------------------------------------------------------

    def _expanded(self, name: str, earlier: set[str]) -> list[_Alternative]:
        """Return alternatives of a rule that begin with no earlier rule, and with itself only plainly."""
        found: list[_Alternative] = []
        todo = list(reversed(self._rules[name]))
        for _ in range(_MOST_STEPS):
            if not todo:
                return found
            checkpoint()
            one = todo.pop()
            more = self._step(one, earlier)
            if more is None:
                found.append(one)
            else:
                todo += reversed(more)
        raise RefactoringError("errors.refactoring.left_recursion_size", name=name)

    def _step(self, one: _Alternative, earlier: set[str]) -> list[_Alternative] | None:
        """Return what an alternative consists of after one expansion at its beginning; None if it needs none."""
        if not one:
            return None
        first, rest = one[0], one[1:]
        if not self._begins_in_cycle(one):
            return None
        if first.quantifiers:
            return [(*beginning, *rest) for beginning in _unrolled(first)]
        if first.group:
            return [(*inner, *rest) for inner in first.group]
        if first.reference in earlier:
            return [(*inner, *rest) for inner in self._rules[first.reference]]
        if first.reference in self._rules:
            return None
        if self._is_empty(first):
            return [rest]
        raise RefactoringError("errors.refactoring.hidden_left_recursion", name=first.reference)

    def _begins_in_cycle(self, one: _Alternative) -> bool:
        """Return whether an alternative may begin with a rule of the cycle."""
        for part in one:
            if part.reference in self._rules or any(map(self._begins_in_cycle, part.group)):
                return True
            if not self._may_be_empty(part):
                return False
        return False

    def _may_be_empty(self, part: _Part) -> bool:
        if part.quantifiers and any(least == 0 for least, _most in map(_bounds, _split(part.quantifiers))):
            return True
        if part.group:
            return any(all(map(self._may_be_empty, inner)) for inner in part.group)
        return part.reference in self._nullable or self._is_empty(part)

    def _is_empty(self, part: _Part) -> bool:
        return part.atom in ('""', "[]", "[^]") or part.group == ((),)

    # --- direct recursion ---------------------------------------------------------------------------------------------

    def _without_direct(self, name: str, alternatives: list[_Alternative]) -> list[_Alternative]:
        ends = [one[1:] for one in alternatives if one and one[0].reference == name and not one[0].quantifiers]
        begins = [one for one in alternatives if not (one and one[0].reference == name and not one[0].quantifiers)]
        if not ends:
            return alternatives
        assert begins, "a rule that matches no text is in no cycle"
        again = list(dict.fromkeys(one for one in ends if one))
        if not again:
            return begins
        return [(*self._group(list(dict.fromkeys(begins))), *self._group(again, "*"))]


def _split(quantifiers: str) -> list[str]:
    return re.findall(r"[*+?]|\{[^}]*\}", quantifiers)


def _bounds(quantifier: str) -> tuple[int, int | None]:
    plain: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
    if quantifier in plain:
        return plain[quantifier]
    found = _COUNT.fullmatch(quantifier)
    assert found is not None
    least = int(found[1] or 0)
    return least, int(found[3]) if found[3] else None if found[2] else least


def _unrolled(part: _Part) -> list[_Alternative]:
    """Return the alternatives of a repeated item, of which the first item is not repeated."""
    *inner, last = _split(part.quantifiers)
    once = replace(part, quantifiers="".join(inner))
    least, most = _bounds(last)
    found: list[_Alternative] = []
    if most != 0:
        fewer, more = max(least - 1, 0), None if most is None else most - 1
        rest = "*" if (fewer, more) == (0, None) else f"{{{fewer},{'' if more is None else more}}}"
        found.append((once,) if more == 0 else (once, replace(part, quantifiers="".join(inner) + rest)))
    return found + ([()] if least == 0 else [])


REFACTORING = RemoveLeftRecursion()
