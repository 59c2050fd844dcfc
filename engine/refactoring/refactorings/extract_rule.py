"""Extract a rule: give the selected items or alternatives a name."""

from __future__ import annotations

from engine.notations.editing import Edit
from engine.notations.editing.expressions import ChoiceText, ExpressionItem, RuleText
from engine.notations.gbnf.lexer import NAME
from engine.refactoring.refactoring import GrammarSelection, RefactoringError, Rewrite
from engine.refactoring.rules import RuleRefactoring, RuleSource, alternatives_around
from engine.source import Span


class ExtractRule(RuleRefactoring):
    """Makes a rule of the selection; without a selection, of the innermost group around the cursor."""

    id = "extract-rule"
    makes_name = True

    def rewrite(self, selection: GrammarSelection) -> Rewrite:
        """Return the edits; see `Refactoring`."""
        source = RuleSource(selection)
        rule = source.rule_at(selection.selected.start)
        name = selection.name or source.free_name(f"{rule.name}-part")
        if not NAME.fullmatch(name):
            raise RefactoringError("errors.refactoring.rule_name", name=name)
        if any(known.name == name for known in source.rules):
            raise RefactoringError("errors.refactoring.name_taken", name=name)
        span, content = self._selected(source, rule)
        if "\n" in content:
            content = source.syntax.group(content)  # a body ends with its line, a group does not
        line_end = selection.text.find("\n", rule.span.end)
        at = len(selection.text) if line_end < 0 else line_end + 1
        written = f"{name} ::= {content}"
        added = f"\n{written}" if line_end < 0 else f"{written}\n"
        return Rewrite((Edit(span, self._spaced(selection, span, name)), Edit(Span(at, at), added)), name=name)

    def _selected(self, source: RuleSource, rule: RuleText) -> tuple[Span, str]:
        """Return the span that becomes a reference, and the body of the new rule."""
        selected = _without_blanks(source.selection.text, source.selection.selected)
        if selected.start == selected.end:
            groups = [item for item in _items(rule.body) if item.group is not None]
            around = [item for item in groups if item.atom.start <= selected.start <= item.atom.end]
            if not around:
                raise RefactoringError("errors.refactoring.select")
            selected = min((item.atom for item in around), key=lambda span: span.end - span.start)
        for item in _items(rule.body):
            if selected in (item.atom, item.span):
                inner = item.group if selected == item.atom else None
                return selected, source.of(selected if inner is None else inner.span) or source.syntax.empty
        for choice in alternatives_around(rule.body.choices(), selected):
            for part in choice.alternatives:
                starts, ends = {one.span.start for one in part.items}, {one.span.end for one in part.items}
                if selected.start in starts and selected.end in ends:
                    return selected, source.of(selected)
            starts = {part.span.start for part in choice.alternatives if part.items}
            ends = {part.span.end for part in choice.alternatives if part.items}
            if selected.start in starts and selected.end in ends:
                return selected, source.of(selected)
        raise RefactoringError("errors.refactoring.select")

    def _spaced(self, selection: GrammarSelection, span: Span, name: str) -> str:
        """Return a reference that does not join the names beside it."""
        text = selection.text
        before = " " if NAME.match(text[max(span.start - 1, 0) : span.start]) else ""
        return before + name + (" " if NAME.match(text, span.end) else "")


def _items(choice: ChoiceText) -> list[ExpressionItem]:
    return [item for one in choice.choices() for part in one.alternatives for item in part.items]


def _without_blanks(text: str, span: Span) -> Span:
    inner = text[span.start : span.end]
    start = span.start + len(inner) - len(inner.lstrip())
    return Span(start, max(start, span.start + len(inner.rstrip())))


REFACTORING = ExtractRule()
