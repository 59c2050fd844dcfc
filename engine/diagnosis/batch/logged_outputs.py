"""The outputs of a log as texts for the coverage of a grammar, with what their steps lost as far as the log says it.

A log lists a few tokens of each step with their probabilities, so the mass that a grammar takes away has bounds: at
least that of the listed tokens that it forbids, at most what the listed tokens that it allows leave. Probabilities from
behind a mask say nothing of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar
from engine.decoding.values import NO_MASSES, PackedMasses, StepMass
from engine.diagnosis.batch.entries import BatchEntry
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.scores.recorded_tokens import recorded_tokens
from engine.diagnosis.scores.response_scores import score_by_response
from engine.diagnosis.scores.token_scores import TokenScore, judged_grammar
from engine.diagnosis.test_strings.values import CountedText
from engine.source import CancelToken


@dataclass(frozen=True, slots=True)
class LoggedOutput:
    """An output of a log.

    Attributes:
        text: the part of it that the grammar allows, from its beginning; None if there is no output.
        is_legal: whether the grammar allows all of it.
    """

    text: CountedText | None = None
    is_legal: bool = True


def logged_output(entry: BatchEntry, grammar: CompiledGrammar, cancel: CancelToken | None = None) -> LoggedOutput:
    """Return the output of a request, judged by a grammar in place of its own.

    Args:
        entry: the request and its response.
        grammar: the grammar.
        cancel: cancels the work.

    Raises:
        EngineError: it cannot be read.
        CancelledError: `cancel` was used.
    """
    case = entry.case(RequestConstraint(grammar.notation, grammar.source.text, grammar.options))
    part = diagnose(case, cancel=cancel).part
    if part is None or part.is_waiting:
        return LoggedOutput()
    legal, masses = _legal_part(grammar, part.data), NO_MASSES
    if case.scores and part.zone != "arguments":
        judged = judged_grammar(grammar, part, case.output or b"")
        moved = len(judged.lead) - judged.start
        scores, is_masked = score_by_response(case, recorded_tokens(case), judged)
        steps = (_mass(one, one.start + moved, is_masked=is_masked) for one in scores)
        masses = PackedMasses.of(one for one in steps if len(judged.lead) <= one.start <= len(legal))
    return LoggedOutput(CountedText(legal, 1, masses), len(legal) == len(part.data))


def _legal_part(grammar: CompiledGrammar, text: bytes) -> bytes:
    """Return the longest beginning of a text that a match may begin with."""
    automaton, configuration = grammar.automaton, grammar.automaton.start
    for at in range(len(text)):
        configuration = automaton.run(configuration, text[at : at + 1])
        if configuration == DEAD:
            return text[:at]
    return text


def _mass(score: TokenScore, start: int, *, is_masked: bool) -> StepMass:
    if is_masked or score.z is None or score.z_most is None:
        return StepMass(start, 0.0, 1.0)
    wanted_p = score.wanted_p or 0.0
    is_forbidden = wanted_p > score.z_most  # more than all allowed tokens together can have
    wanted = (score.wanted, wanted_p) if is_forbidden else (b"", 0.0)
    return StepMass(start, score.z, score.z_most, *wanted)
