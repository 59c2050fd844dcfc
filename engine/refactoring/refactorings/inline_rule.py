"""Inline a rule: put its body in place of its name."""

from __future__ import annotations

from engine.notations.editing import Edit
from engine.notations.editing.expressions import ExpressionItem, RuleText
from engine.refactoring.refactoring import GrammarSelection, RefactoringError, Rewrite
from engine.refactoring.rules import RuleRefactoring, RuleSource
from engine.source.catalogue import catalogue_text


class InlineRule(RuleRefactoring):
    """Puts the body of a rule in place of one use, or of all uses if the cursor is in its definition.

    A rule without another use is removed.
    """

    id = "inline-rule"

    def rewrite(self, selection: GrammarSelection) -> Rewrite:
        """Return the edits; see `Refactoring`."""
        source = RuleSource(selection)
        name = source.named()
        rule = source.rule(name.text)
        if rule.name == source.start:
            raise RefactoringError("errors.refactoring.start_rule", name=rule.name)
        if any(item.reference == rule.name for item in rule.body.references()):
            raise RefactoringError("errors.refactoring.recursive", name=rule.name)
        uses = list(source.references_to(rule.name))
        offset = selection.selected.start
        chosen = [one for one in uses if one.atom.start <= offset <= one.atom.end] or uses
        if not chosen:
            raise RefactoringError("errors.refactoring.unused", name=rule.name)
        edits = [Edit(one.atom, self._body(source, rule, one)) for one in chosen]
        if len(chosen) < len(uses):
            return Rewrite(tuple(edits))
        note = catalogue_text("refactoring.note.rule_removed", name=rule.name)
        return Rewrite((*edits, source.removal(rule)), (note,))

    def _body(self, source: RuleSource, rule: RuleText, use: ExpressionItem) -> str:
        """Return the body of a rule as one item in place of a use."""
        alternatives = rule.body.alternatives
        content = source.of(rule.body.span) or source.syntax.empty
        if len(alternatives) == 1:
            items = alternatives[0].items
            is_whole = len(items) < 2 and not (items and items[0].is_quantified)
            if is_whole or not use.is_quantified:
                return content
        return source.syntax.group(content)


REFACTORING = InlineRule()
