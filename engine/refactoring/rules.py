"""What refactorings of rules and expressions share: the rules of a text, places in them, and the text of parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from engine.notations import NOTATIONS
from engine.notations.editing import Edit, Name, name_at
from engine.notations.editing.expressions import ChoiceText, ExpressionItem, ExpressionSyntax, PieceKind, RuleText
from engine.notations.notation import Notation
from engine.refactoring.refactoring import GrammarSelection, Refactoring, RefactoringError
from engine.source import InvariantError, SourceText, Span


class RuleRefactoring(Refactoring):
    """A refactoring of rules that are alternatives: a name means its rule, so the language stays by construction."""

    def applies_to(self, notation: Notation) -> bool:
        """Return whether a notation has named rules."""
        return notation.has_named_rules and notation.expressions is not None

    def keeps_language(self, notation: Notation) -> bool:
        """Return True: substitution, names and Arden's rule keep the least language of every rule."""
        del notation
        return True


class RuleSource:
    """The rules of a text that parses.

    Args:
        selection: the text.

    Attributes:
        syntax: the syntax of its notation.
        rules: its rules, in order.
        start: the name of the start rule.

    Raises:
        GrammarError: the text has an error.
        RefactoringError: a rule is defined twice.
    """

    def __init__(self, selection: GrammarSelection) -> None:
        notation = NOTATIONS[selection.notation]
        syntax = notation.expressions
        if syntax is None:
            raise InvariantError("errors.refactoring.notation", notation=notation.title)
        self.grammar = notation.parse(SourceText(selection.text), selection.options)[0]
        self.start = self.grammar.start
        self.syntax: ExpressionSyntax = syntax
        self.selection = selection
        self.rules = syntax.rules(selection.text)
        self._comments = tuple(
            Span(start, end) for kind, start, end in syntax.pieces(selection.text) if kind is PieceKind.COMMENT
        )
        name, count = Counter(rule.name for rule in self.rules).most_common(1)[0]
        if count > 1:
            raise RefactoringError("errors.refactoring.defined_twice", name=name)

    def of(self, span: Span) -> str:
        """Return the text of a span."""
        return self.selection.of(span)

    def rule(self, name: str) -> RuleText:
        """Return the rule of a name."""
        return next(rule for rule in self.rules if rule.name == name)

    def rule_at(self, offset: int) -> RuleText:
        """Return the rule at or before an offset; by default the first one."""
        before = (rule for rule in self.rules if rule.span.start <= offset)
        return max(before, key=lambda rule: rule.span.start, default=self.rules[0])

    def named(self) -> Name:
        """Return the name of a rule at the selection.

        Raises:
            RefactoringError: there is none.
        """
        notation, selection = NOTATIONS[self.selection.notation], self.selection
        name = name_at(notation.names(selection.text), selection.selected.start)
        if name is None:
            raise RefactoringError("errors.refactoring.no_rule")
        return name

    def references_to(self, name: str) -> Iterator[ExpressionItem]:
        """Yield the references to a rule."""
        for rule in self.rules:
            yield from (item for item in rule.body.references() if item.reference == name)

    def free_name(self, wanted: str) -> str:
        """Return a name that no rule has: a wanted one, or with a number after it."""
        taken = {rule.name for rule in self.rules}
        names = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, len(taken) + 2))
        return next(name for name in names if name not in taken)

    def check_comments(self, span: Span) -> None:
        """Refuse to rewrite a span that contains a comment.

        Raises:
            RefactoringError: it contains one.
        """
        for comment in self._comments:
            if span.start <= comment.start < span.end:
                line, _ = SourceText(self.selection.text).line_column(comment.start)
                raise RefactoringError("errors.refactoring.comment", line=line)

    def removal(self, rule: RuleText) -> Edit:
        """Return the edit that removes a rule, and its line if nothing else is in it; a comment after it stays."""
        text = self.selection.text
        start, end = rule.span.start, rule.span.end
        begin = text.rfind("\n", 0, start) + 1
        if not text[begin:start].strip():
            start = begin
        rest = text[end:].split("\n", 1)
        end += len(rest[0]) - len(rest[0].lstrip())
        if not rest[0].strip():
            end += len(rest) > 1
        return Edit(Span(start, end), "")


def alternatives_around(choices: Iterable[ChoiceText], selected: Span) -> list[ChoiceText]:
    """Return the choices that contain a selection, the innermost first."""
    found = [one for one in choices if one.span.start <= selected.start and selected.end <= one.span.end]
    return sorted(found, key=lambda one: one.span.end - one.span.start)
