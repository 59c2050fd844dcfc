"""The findings of a GBNF text that is being edited, without reading all of its rules again.

A rule reads the same wherever it begins, whatever is before it. So after an edit, rules before it are kept; reading
goes on from the rule in which it begins, until a rule begins behind the edit where one began in the earlier text: from
there on, all rules are the same, with other offsets. What rules know of one another follows from the facts about each
of them (`engine.grammar.rule_facts`).

A rule that has an error may have looked far ahead for the end of a literal, so reading goes on from the first such
rule. llama.cpp's limit of symbols depends on the names in all rules above: where it may be reached, everything is read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TypeAlias

from engine.grammar.rule_facts import JoinedFacts
from engine.notations.gbnf.parser import JoinedRules, RuleParser, RulePart, parse
from engine.source import Diagnostic, GrammarError, Limits, SourceText, checkpoint
from engine.source.text import common_length

_Shifted: TypeAlias = tuple[RulePart, int]
"""A part, and by how much its offsets are before those in the text."""


class EditedRules:
    """Finds the findings of one text after another."""

    def __init__(self) -> None:
        self._text = ""
        self._limits: Limits | None = None
        self._parts: list[_Shifted] = []
        self._facts = JoinedFacts()

    def findings(self, source: SourceText, limits: Limits) -> tuple[Diagnostic, ...]:
        """Return what `parse` finds, errors included.

        Args:
            source: the text; the more of it is as in the last one, the faster.
            limits: the limits of length and of rules.

        Raises:
            LimitExceededError: the text is too long.
        """
        limits.check("errors.limit.grammar_length", len(source.text), limits.source_length, "source_length")
        joined, parts = JoinedRules(source, self._facts), list[_Shifted]()
        for part, shift in self._read(source, limits):
            parts.append((part, shift))
            joined.add(part, shift)
            if part.has_many_symbols or not joined.takes_more:
                self._limits, self._parts = None, []
                return joined.checked()[1] if not part.has_many_symbols else _all_findings(source, limits)
        self._text, self._limits, self._parts = source.text, limits, parts
        return joined.checked()[1]

    def _read(self, source: SourceText, limits: Limits) -> Iterator[_Shifted]:
        """Yield the parts of a text: kept ones, those around the edit, and the others moved."""
        old = self._parts if limits == self._limits else []
        before, after, text = common_length(self._text, source.text), self._text, source.text
        behind = min(common_length(after[::-1], text[::-1]), min(len(after), len(text)) - before)
        grown, edit_end = len(text) - len(after), len(after) - behind
        starts = [part.start + shift for part, shift in old]
        first = self._first_to_read(old, starts, before)
        yield from old[:first]
        parser = RuleParser(source, limits, knows_names=False)
        if first:
            parser.reader.go_to(starts[first])
        at = first
        while True:
            checkpoint()
            same = parser.reader.at - grown
            while at < len(old) and starts[at] < max(same, edit_end):
                at += 1
            if at < len(old) and starts[at] == same and parser.reader.kind != "end":
                yield from ((part, shift + grown) for part, shift in old[at:])
                return
            part = parser.next_part()
            if part is None:
                return
            yield part, 0

    @staticmethod
    def _first_to_read(old: list[_Shifted], starts: list[int], before: int) -> int:
        """Return the first part that is read again; the one before it looked no further than its header."""
        broken = next((number for number, (part, _) in enumerate(old) if part.is_broken), len(old))
        for number in range(min(bisect_right(starts, before) - 1, broken), 0, -1):
            part, shift = old[number]
            if part.rule is not None and part.header_end + shift <= before:
                return number
        return 0


def _all_findings(source: SourceText, limits: Limits) -> tuple[Diagnostic, ...]:
    try:
        return parse(source, limits)[1]
    except GrammarError as error:
        return error.diagnostics
