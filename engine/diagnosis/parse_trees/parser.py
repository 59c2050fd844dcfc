"""Parses texts of a grammar in any notation, one after the other, into trees."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar
from engine.diagnosis.parse_trees.chart import ParseChart
from engine.diagnosis.parse_trees.json_structure import JsonStructure, Keyword
from engine.diagnosis.parse_trees.network import ParseNetwork
from engine.diagnosis.parse_trees.values import FailedAttempt, ParseOutcome, ParseTree, TextParse
from engine.matching.stack_verdicts import MOST_STACKS, stack_verdicts_of
from engine.notations import NOTATIONS
from engine.notations.json_schema.json_tree import pointers
from engine.source import CancelToken, EngineError, Span
from engine.source.text import common_length

_CHECK_EVERY = 256


def network_of(grammar: CompiledGrammar) -> ParseNetwork:
    """Return the network of a grammar with rules.

    Raises:
        EngineError: it has token elements.
        LimitExceededError: it is too large.
    """
    rules, groups = NOTATIONS[grammar.notation].parse_with_groups(grammar.source, grammar.options)
    return ParseNetwork(rules, groups, shows_rules=grammar.has_named_rules)


class TextParser:
    """Parses texts of one grammar; what a text shares with the last one is not read again.

    Args:
        grammar: the grammar.
    """

    def __init__(self, grammar: CompiledGrammar) -> None:
        self._grammar = grammar
        self._text = b""
        self._configurations = [grammar.automaton.start]
        self._structure = JsonStructure()
        self._structured = b""  # the text that the structure has read
        self._keywords: dict[int, tuple[Keyword, ...]] = {}
        self._pointers: dict[Span, str] = {}
        self._chart: ParseChart | None = None

    def parse(self, text: bytes, cancel: CancelToken | None = None) -> TextParse:
        """Return the parse of a text: complete, a beginning, or refused.

        Raises:
            CancelledError: `cancel` was used.
        """
        legal = self._follow(text, cancel)
        configuration = self._configurations[legal]
        may_end = configuration != DEAD and self._grammar.automaton.accepts(configuration)
        outcome = ParseOutcome.COMPLETE if may_end else ParseOutcome.BEGINNING
        if legal < len(text) or configuration == DEAD:
            outcome = ParseOutcome.REFUSED
        attempts: tuple[FailedAttempt, ...] = ()
        more, reason, trees = 0, "", tuple[ParseTree, ...]()
        try:
            if self._grammar.describes_json:
                trees = (self._json_tree(text[:legal]),)
                if outcome is ParseOutcome.REFUSED:
                    attempts = self._json_attempts(configuration, trees[0])
            else:
                chart = self._read(text[:legal], cancel)
                trees = chart.trees(is_whole=outcome is ParseOutcome.COMPLETE)
                if outcome is ParseOutcome.REFUSED and trees:
                    attempts, more = chart.attempts(trees[0])
        except EngineError as error:
            if cancel is not None:
                cancel.check()
            reason = str(error)
        return TextParse(len(text), legal, outcome, trees, may_end, attempts, more, reason)

    def _follow(self, text: bytes, cancel: CancelToken | None) -> int:
        """Follow a text in the automaton; return the number of its legal bytes."""
        automaton, known = self._grammar.automaton, self._configurations
        shared = min(len(known) - 1, common_length(self._text, text))
        del known[shared + 1 :]
        self._text = text
        for at in range(len(known) - 1, len(text)):
            if cancel is not None and at % _CHECK_EVERY == 0:
                cancel.check()
            after = automaton.run(known[-1], text[at : at + 1])
            if after == DEAD:
                break
            known.append(after)
        return len(known) - 1

    def _read(self, text: bytes, cancel: CancelToken | None) -> ParseChart:
        if self._chart is None:
            self._chart = ParseChart(network_of(self._grammar))
        self._chart.read(text, cancel)
        return self._chart

    # --- JSON --------------------------------------------------------------------------------------------------------

    def _json_tree(self, text: bytes) -> ParseTree:
        if not text.startswith(self._structured):
            self._structure, self._structured = JsonStructure(), b""
        for at in range(len(self._structured), len(text)):
            self._structure.take(text[at], partial(self._keywords_in, self._configurations[at]))
        self._structured = text
        return self._structure.tree()

    def _keywords_in(self, configuration: int) -> tuple[Keyword, ...]:
        """Return the keywords of what may come next."""
        known = self._keywords.get(configuration)
        if known is None:
            known = self._keywords[configuration] = tuple(self._named(self._grammar.automaton.spans(configuration)))
        return known

    def _named(self, spans: Iterable[Span]) -> Iterable[Keyword]:
        for span in dict.fromkeys(spans):
            if span not in self._pointers:
                found = pointers(self._grammar.source, [span])
                self._pointers[span] = found[0] if found else ""
            yield span, self._pointers[span]

    def _json_attempts(self, configuration: int, tree: ParseTree) -> tuple[FailedAttempt, ...]:
        if configuration == DEAD:
            return ()
        verdicts = stack_verdicts_of(self._grammar, configuration)[:MOST_STACKS]
        node = max(at for at, one in enumerate(tree) if at == 0 or one.below is None)
        return tuple(FailedAttempt(one.rules, None, one.expected, one.spans, node, one.properties) for one in verdicts)
