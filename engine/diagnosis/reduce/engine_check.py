"""A check by an installed engine: it refuses a grammar, crashes, takes too long, or judges a text otherwise.

The texts are examples of the user, or those that our own grammar generates, with mutants that it refuses. Every
candidate has its own texts, since those of the original may no longer be about it. A candidate still fails if it fails
in the same way: an engine that refuses a smaller grammar for another reason would lead the reduction astray.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.failures.examination import lenient_options
from engine.diagnosis.intake import IntakeError, PastedText, TextKind, read_failure
from engine.diagnosis.intake.request_reader import is_request
from engine.diagnosis.test_strings.json_mutants import JsonMutator
from engine.diagnosis.test_strings.suggestions import near_misses, random_texts, shortest_text
from engine.diagnosis.verdicts.replay_walk import reach
from engine.notations import NOTATIONS
from engine.peers.bench import PeerProcess
from engine.peers.bench_cases import BenchCase, LabelledText
from engine.peers.report import CaseOutcome
from engine.source import CancelToken, GrammarError, LimitExceededError, Limits

MOST_TEXTS: Final = 16
"""The number of legal texts that are generated for a grammar."""
_LONGEST: Final = 120  # bytes of a generated text before its end
_MUTANTS: Final = 160
_VALUES: Final = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|\d+|[^\w\s]")
_SHAPE_WORDS: Final = 5


class EngineFailureKind(StrEnum):
    """How an engine fails on a grammar."""

    REFUSES = "refuses"
    CRASHES = "crashes"
    TOO_SLOW = "too-slow"
    TOO_STRICT = "too-strict"
    TOO_LOOSE = "too-loose"


_KINDS: Final = {
    CaseOutcome.REFUSED: EngineFailureKind.REFUSES,
    CaseOutcome.FAILED: EngineFailureKind.CRASHES,
    CaseOutcome.DIED: EngineFailureKind.CRASHES,
    CaseOutcome.TIMED_OUT: EngineFailureKind.TOO_SLOW,
}


@dataclass(frozen=True, slots=True)
class EngineFailure:
    """A failure of an engine on a grammar.

    Attributes:
        kind: how it fails.
        reason: the message of the engine; empty if it judges a text otherwise.
        text: the text that it judges otherwise; empty otherwise.
    """

    kind: EngineFailureKind
    reason: str = ""
    text: str = ""

    def is_like(self, other: EngineFailure | None) -> bool:
        """Return whether another failure is of the same kind, with a message of the same form."""
        return other is not None and self.kind is other.kind and message_form(self.reason) == message_form(other.reason)


def message_form(message: str) -> tuple[str, ...]:
    """Return the first words of a message without values, which differ between candidates."""
    return tuple(_VALUES.sub(" ", message).split()[:_SHAPE_WORDS])


def constraints_of(text: str, notation: str, options: CompileOptions) -> tuple[RequestConstraint, ...]:
    """Return the grammars of a request, or a grammar that is given by itself.

    Args:
        text: the request or grammar.
        notation: the id of its notation; that of JSON Schema for a request, too.
        options: the compile options of a grammar that is given by itself.
    """
    if NOTATIONS[notation].describes_json:
        try:
            if is_request(json.loads(text)):
                return read_failure([PastedText(text, TextKind.REQUEST)]).constraints
        except (ValueError, RecursionError, IntakeError):
            return ()
    return (RequestConstraint(notation, text, options),)


class EngineCheck:
    """The check of candidates by an engine.

    Args:
        process: the engine, over a vocabulary of bytes.
        notation: the id of the notation of the candidates.
        options: the compile options.
        examples: texts to judge; if there are none, they are generated.
        seed: the seed of generated texts.
        cancel: cancels a check.
    """

    def __init__(
        self,
        process: PeerProcess,
        notation: str,
        options: CompileOptions,
        examples: Sequence[str] = (),
        seed: int = 0,
        cancel: CancelToken | None = None,
    ) -> None:
        self._process, self._notation, self._options = process, notation, options
        self._examples, self._seed, self._cancel = tuple(examples), seed, cancel

    def failure(self, text: str) -> EngineFailure | None:
        """Return how the engine fails on a grammar, or on one of a request; None if it does not.

        Raises:
            PeerAbsentError: the engine cannot be used.
            CancelledError: the check was cancelled.
        """
        found = (self._failure(one) for one in constraints_of(text, self._notation, self._options))
        return next((one for one in found if one is not None), None)

    def _failure(self, constraint: RequestConstraint) -> EngineFailure | None:
        judged = list(self._judged(constraint))
        texts = tuple(LabelledText(text) for text, _, _ in judged)
        measured = self._process.measure(BenchCase("candidate", constraint.notation, constraint.text, texts))
        if measured.ending is not CaseOutcome.DONE:
            return EngineFailure(_KINDS[measured.ending], measured.reason)
        for (text, is_legal, legal), accepts, accepted in zip(judged, measured.verdicts, measured.reached, strict=True):
            if (is_legal and not accepts) or (text in self._examples and accepted < legal):
                return EngineFailure(EngineFailureKind.TOO_STRICT, text=text)
            if (accepts and not is_legal) or (text in self._examples and accepted > legal):
                return EngineFailure(EngineFailureKind.TOO_LOOSE, text=text)
        return None

    def _judged(self, constraint: RequestConstraint) -> Iterator[tuple[str, bool, int]]:
        """Yield texts, whether our own grammar accepts them, and the number of their legal bytes."""
        try:
            options = lenient_options(constraint.options, constraint.options.limits)
            grammar = compile_grammar(constraint.notation, constraint.text, options, cancel=self._cancel)
            if grammar.is_empty or grammar.automaton.token_elements:
                return
            texts = self._examples or tuple(self._generated(constraint, grammar))
            for text in texts:
                data = text.encode("utf-8", "surrogatepass")
                yield text, grammar.fullmatch(data), reach(grammar.automaton, data)
        except (GrammarError, LimitExceededError):
            return

    def _generated(self, constraint: RequestConstraint, lenient: CompiledGrammar) -> Iterator[str]:
        """Yield legal texts without white space beyond what the grammar requires, then texts that are not legal."""
        options = CompileOptions(
            dialect=constraint.options.dialect,
            whitespace="compact",
            additional=constraint.options.additional,
            unenforced="warn",
            limits=Limits(configurations=100_000, work=2_000_000),
        )
        grammar = compile_grammar(constraint.notation, constraint.text, options, cancel=self._cancel)
        legal = [one.text for one in shortest_text(grammar, self._cancel)]
        legal += [one.text for one in random_texts(grammar, MOST_TEXTS, self._seed, self._cancel, longest=_LONGEST)]
        yield from legal
        if NOTATIONS[constraint.notation].describes_json:
            mutator = JsonMutator(json.loads(constraint.text), self._seed)
            for text in legal:
                yield from dict.fromkeys(mutator.mutants(text, _MUTANTS // len(legal) + 1))
        yield from (one.text for one in near_misses(lenient, legal))
