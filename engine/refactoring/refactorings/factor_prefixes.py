"""Factor out common prefixes: `a b | a c` becomes `a (b | c)`, since concatenation distributes over alternatives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from engine.notations.editing import Edit
from engine.notations.editing.expressions import AlternativeText, ChoiceText, ExpressionSyntax
from engine.notations.notation import Notation
from engine.refactoring.refactoring import GrammarSelection, Refactoring, RefactoringError, Rewrite
from engine.refactoring.rules import RuleSource, alternatives_around
from engine.source import Span

Items = tuple[str, ...]


class FactorPrefixes(Refactoring):
    """Factors the alternatives around the cursor; if they have no common prefix, those around them, then others.

    Alternatives move to the first one with the same beginning, so those between keep their text.
    """

    id = "factor-prefixes"

    def applies_to(self, notation: Notation) -> bool:
        """Return whether texts of a notation have alternatives."""
        return notation.expressions is not None

    def keeps_language(self, notation: Notation) -> bool:
        """Return whether a notation has no atomic groups, in which the order of alternatives matters."""
        return notation.has_named_rules

    def rewrite(self, selection: GrammarSelection) -> Rewrite:
        """Return the edits; see `Refactoring`."""
        source = RuleSource(selection)
        rule = source.rule_at(selection.selected.start)
        choices = list(rule.body.choices())
        around = alternatives_around(choices, selection.selected)
        for choice in (*around, *(one for one in choices if one not in around)):
            edits = self._factored(source, choice)
            if edits:
                return Rewrite(edits)
        raise RefactoringError("errors.refactoring.no_prefix")

    def _factored(self, source: RuleSource, choice: ChoiceText) -> tuple[Edit, ...]:
        groups: dict[str, list[int]] = {}
        items = [self._items(source, part) for part in choice.alternatives]
        for number, part in enumerate(items):
            if part:
                groups.setdefault(part[0], []).append(number)
        edits: list[Edit] = []
        for numbers in groups.values():
            if len(numbers) == 1:
                continue
            spans = [choice.alternatives[number].span for number in numbers]
            joined = factored([items[number] for number in numbers], source.syntax)
            edits.append(Edit(spans[0], source.syntax.joined(joined[0])))
            source.check_comments(spans[0])
            for number in numbers[1:]:
                removed = Span(choice.alternatives[number - 1].span.end, choice.alternatives[number].span.end)
                source.check_comments(removed)
                edits.append(Edit(removed, ""))
        return tuple(edits)

    def _items(self, source: RuleSource, part: AlternativeText) -> Items:
        """Return the items of an alternative, with a literal divided into its characters."""
        found: list[str] = []
        for item in part.items:
            written = source.of(item.span)
            found += (written,) if item.is_quantified else source.syntax.characters(written)
        return tuple(found)


def factored(alternatives: Sequence[Items], syntax: ExpressionSyntax) -> list[Items]:
    """Return alternatives without common prefixes, in the order of their first items; equal ones are one.

    Args:
        alternatives: sequences of items.
        syntax: the syntax of the notation.
    """
    groups: dict[str, list[Items]] = {}
    for part in dict.fromkeys(alternatives):
        groups.setdefault(part[0] if part else "", []).append(part)
    found: list[Items] = []
    for group in groups.values():
        if len(group) == 1:
            found += group
            continue
        columns = takewhile(lambda column: len(set(column)) == 1, zip(*group, strict=False))
        prefix = tuple(column[0] for column in columns)
        rests = [part[len(prefix) :] for part in group]
        inner = factored([rest for rest in rests if rest], syntax)
        found.append((*prefix, _alternation(inner, syntax, is_optional=() in rests)))
    return found


def _alternation(parts: list[Items], syntax: ExpressionSyntax, *, is_optional: bool) -> str:
    """Return alternatives as one item."""
    bar = f"{syntax.gap}|{syntax.gap}"
    content = syntax.group(bar.join(syntax.joined(part) for part in parts))
    return f"{content}?" if is_optional else content


REFACTORING = FactorPrefixes()
