"""Runs the cases of grammar tests: each text is one check, and what the texts use of the grammar is the coverage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar, compile_grammar
from engine.diagnosis.test_strings.case_files import GrammarCase
from engine.diagnosis.test_strings.coverage import automata_of, coverage, uses_of
from engine.diagnosis.test_strings.values import Coverage
from engine.diagnosis.verdicts.replay import replay_text
from engine.export import without_white_space
from engine.matching import Matcher
from engine.source import CancelToken, GrammarError, LimitExceededError, Severity, limited_work
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

_MOST_STATES: Final = 4_000
_COVERAGE_WORK: Final = 2_000_000  # turns of loops, about two seconds
_BYTES: Final = Vocabulary([*(bytes((byte,)) for byte in range(256)), None], eos_ids=[256])


class CheckKind(StrEnum):
    """The kind of a check; the value is the key in a file of cases."""

    COMPILES = "compiles"
    ACCEPT = "accept"
    REFUSE = "refuse"
    PREFIX = "prefix"
    FORCED = "forced"
    ALLOWED = "allowed"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check.

    Attributes:
        kind: its kind.
        text: the text that was checked.
        expected: the forced bytes or the token that was expected; empty for the other kinds.
        failure: a sentence that says what is wrong; empty if the check holds.
    """

    kind: CheckKind
    text: str = ""
    expected: str = ""
    failure: str = ""

    @property
    def holds(self) -> bool:
        """Return whether the check holds."""
        return not self.failure


@dataclass(frozen=True, slots=True)
class CaseReport:
    """The results of a case.

    Attributes:
        case: the case.
        results: one for each check, in the order of the file; the first is the compile.
        covered: what the accepted texts use of the grammar.
    """

    case: GrammarCase
    results: tuple[CheckResult, ...]
    covered: Coverage


def run_case(
    case: GrammarCase, load: Callable[[str], Vocabulary] | None = None, cancel: CancelToken | None = None
) -> CaseReport:
    """Run all checks of a case.

    Args:
        case: the case.
        load: loads the vocabulary that a case names.
        cancel: cancels the run.

    Raises:
        EngineError: the vocabulary cannot be loaded.
        CancelledError: `cancel` was used.
    """
    assert case.grammar is not None
    try:
        grammar = compile_grammar(case.notation, case.grammar, case.compile_options, cancel=cancel)
    except GrammarError as error:
        found = next(each for each in error.diagnostics if each.severity is Severity.ERROR)
        failed = CheckResult(CheckKind.COMPILES, failure=found.render(error.source))
        return CaseReport(case, (failed,), Coverage())
    except LimitExceededError as error:
        return CaseReport(case, (CheckResult(CheckKind.COMPILES, failure=str(error)),), Coverage())
    vocabulary = load(case.tokenizer) if case.tokenizer is not None and load is not None else None
    checks = _Checks(grammar, vocabulary, cancel or CancelToken())
    return CaseReport(case, (CheckResult(CheckKind.COMPILES), *checks.results(case)), checks.coverage(case))


class _Checks:
    """The checks of one grammar; each returns what is wrong, or nothing."""

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary | None, cancel: CancelToken) -> None:
        self._grammar, self._vocabulary, self._cancel = grammar, vocabulary, cancel

    def results(self, case: GrammarCase) -> Iterator[CheckResult]:
        """Yield the results of all texts of a case."""
        for kind, texts, check in (
            (CheckKind.ACCEPT, case.accept, self._accept),
            (CheckKind.REFUSE, case.refuse, self._refuse),
            (CheckKind.PREFIX, case.prefix, self._prefix),
        ):
            for text in texts:
                yield self._result(CheckResult(kind, text), check, text)
        for kind, pairs, check_pair in (
            (CheckKind.FORCED, case.forced, self._forced),
            (CheckKind.ALLOWED, case.allowed, self._allowed),
        ):
            for text, expected in pairs:
                yield self._result(CheckResult(kind, text, expected), check_pair, text, expected)

    def _result(self, found: CheckResult, check: Callable[..., str], *texts: str) -> CheckResult:
        self._cancel.check()
        try:
            return replace(found, failure=check(*texts))
        except LimitExceededError as error:
            return replace(found, failure=str(error))

    def _accept(self, text: str) -> str:
        if self._grammar.fullmatch(text):
            return ""
        if self._grammar.automaton.token_elements:
            return catalogue_text("cli.test.failure.not_accepted")
        return replay_text(self._grammar, _encoded(text), advise=False, cancel=self._cancel).sentence

    def _refuse(self, text: str) -> str:
        return catalogue_text("cli.test.failure.accepted") if self._grammar.fullmatch(text) else ""

    def _prefix(self, text: str) -> str:
        automaton = self._grammar.automaton
        if automaton.run(automaton.start, _encoded(text)) != DEAD:
            return ""
        if automaton.token_elements:
            return catalogue_text("cli.test.failure.no_prefix")
        return replay_text(self._grammar, _encoded(text), advise=False, cancel=self._cancel).sentence

    def _forced(self, text: str, expected: str) -> str:
        matcher = Matcher(self._grammar, _BYTES)
        if not matcher.accept_bytes(_encoded(text)):
            return catalogue_text("cli.test.failure.no_prefix")
        forced = matcher.forced_bytes()
        if forced == _encoded(expected):
            return ""
        return catalogue_text("cli.test.failure.forced", forced=repr(forced.decode("utf-8", "replace")))

    def _allowed(self, text: str, token: str) -> str:
        matcher = Matcher(self._grammar, self._vocabulary or _BYTES)
        if not matcher.accept_bytes(_encoded(text)):
            return catalogue_text("cli.test.failure.no_prefix")
        if self._vocabulary is None:
            return matcher.explain(_encoded(token)).sentence if not matcher.accept_bytes(_encoded(token)) else ""
        ids = _ids_of(self._vocabulary, token)
        if not ids:
            return catalogue_text("cli.test.failure.no_token")
        return "" if any(matcher.is_allowed(each) for each in ids) else matcher.explain(ids[0]).sentence

    def coverage(self, case: GrammarCase) -> Coverage:
        """Return what the accepted texts of a case use."""
        grammar = self._grammar
        texts = [_encoded(text) for text in case.accept if grammar.fullmatch(text)]
        if not texts:
            return Coverage(reason=catalogue_text("cli.test.coverage.no_text"))
        try:
            with limited_work("errors.limit.drawing_work", _COVERAGE_WORK):
                automata = automata_of(grammar, _MOST_STATES, cancel=self._cancel)
        except LimitExceededError as error:
            return Coverage(reason=str(error))
        except GrammarError as error:
            return Coverage(reason=error.diagnostics[0].message)
        if grammar.describes_json:
            texts = [without_white_space(text) for text in texts]
        return coverage(automata, [uses_of(automata, text, cancel=self._cancel) for text in texts])


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _ids_of(vocabulary: Vocabulary, token: str) -> list[int]:
    """Return the ids of a token: by the name of a special token, else by its text."""
    named = [index for index, name in vocabulary.special.items() if name == token]
    data = _encoded(token)
    return named or [index for index, each in enumerate(vocabulary.tokens) if each == data]
