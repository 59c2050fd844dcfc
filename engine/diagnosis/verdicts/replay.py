"""Replay of an output against a grammar, without a model: how far it is legal, and what failed first.

Users come with an output that a server refused, or that was cut off, and with the grammar that should have prevented
it. The answer is one sentence, with all the data behind it.

Text before the intended output is skipped and reported, since every grammar fails at the first byte of "Sure! Here is
your JSON". A grammar that names tokens is followed token by token, all others by bytes, since tokenisation does not
affect whether a text matches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.compile import CompiledGrammar
from engine.diagnosis.verdicts.completion_budget import measure_completion
from engine.diagnosis.verdicts.relaxed_options import option_suggestions, relaxed_grammar, unusual_forms
from engine.diagnosis.verdicts.replay_walk import ReplayWalk, output_loops, walk
from engine.diagnosis.verdicts.sentences import unusual_form_note, verdict_notes, verdict_sentence
from engine.diagnosis.verdicts.tokenisation import (
    OutputTokens,
    divergence,
    given_ids,
    given_pieces,
    tokenise,
    tokenizer_ids,
)
from engine.diagnosis.verdicts.verdict import (
    Failure,
    ReplayedToken,
    ReplayedTokenState,
    Verdict,
    VerdictOutcome,
    position_of_byte,
)
from engine.diagnosis.verdicts.wrappers import output_start
from engine.document.saved_traces import STOP, SavedTrace
from engine.matching import Matcher
from engine.matching.stack_verdicts import elements, stack_verdicts_of
from engine.models.text_encoder import TextEncoder
from engine.notations.json_schema.json_tree import pointers
from engine.source import CancelToken, EngineError, GrammarError, Severity, Span
from engine.source.catalogue import catalogue_text
from engine.source.json_pointer import escape_step
from engine.source.json_scanner import added_properties, is_in_character, is_in_escape, is_in_string, open_path
from engine.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class TokenSource:
    """The vocabulary of an output.

    Attributes:
        vocabulary: the tokens.
        encode: the tokenizer's encoding function; None if unknown.
    """

    vocabulary: Vocabulary
    encode: TextEncoder | None = None


def replay_text(
    grammar: CompiledGrammar,
    text: bytes,
    token_source: TokenSource | None = None,
    *,
    budget: int | None = None,
    finish: str = "",
    advise: bool = True,
    cancel: CancelToken | None = None,
) -> Verdict:
    """Judge an output given as text.

    Args:
        grammar: the grammar that it should match.
        text: its bytes.
        token_source: the vocabulary for reports in tokens; None for bytes only.
        budget: the token budget.
        finish: why the generation ended, as the server reported: one of `FINISHES`; empty if unknown.
        advise: whether the output is from elsewhere: it is then judged with any escapes and any number forms, whatever
            the compile options, and options are searched under which it would be legal. Both compile the grammar again.
        cancel: cancels the replay.

    Raises:
        EngineError: the grammar names tokens, so a text is not enough.
        LimitExceededError: a step exceeded a limit of the grammar.
        CancelledError: `cancel` was used.
    """
    if grammar.automaton.token_elements:
        raise EngineError("errors.diagnosis.needs_ids")
    return _Replay(grammar, text, None, token_source, budget, finish, cancel, advise=advise).verdict()


def replay_ids(
    grammar: CompiledGrammar,
    ids: Sequence[int],
    token_source: TokenSource,
    *,
    budget: int | None = None,
    finish: str = "",
    advise: bool = True,
    cancel: CancelToken | None = None,
) -> Verdict:
    """Judge an output given as token ids.

    Args:
        grammar: as in `replay_text`; so are the other arguments.
        ids: the token ids.
        token_source: the vocabulary of the ids.
        budget: the token budget.
        finish: why the generation ended.
        advise: whether the output is from elsewhere.
        cancel: cancels the replay.

    Raises:
        EngineError: an id is not in the vocabulary.
    """
    tokens = given_ids(ids, token_source.vocabulary)
    return _Replay(grammar, tokens.data, tokens, token_source, budget, finish, cancel, advise=advise).verdict()


def replay_pieces(
    grammar: CompiledGrammar,
    pieces: Sequence[bytes],
    *,
    budget: int | None = None,
    finish: str = "",
    cancel: CancelToken | None = None,
) -> Verdict:
    """Judge an output given as the bytes of each token, as in a saved trace.

    Args:
        grammar: as in `replay_text`; so are the other arguments.
        pieces: the bytes of each token.
        budget: the token budget.
        finish: why the generation ended.
        cancel: cancels the replay.
    """
    if grammar.automaton.token_elements:
        raise EngineError("errors.diagnosis.needs_ids")
    tokens = given_pieces(pieces)
    return _Replay(grammar, tokens.data, tokens, None, budget, finish, cancel).verdict()


def replay_saved(
    grammar: CompiledGrammar,
    saved: SavedTrace,
    token_source: TokenSource | None = None,
    *,
    budget: int | None = None,
    finish: str = "",
    cancel: CancelToken | None = None,
) -> Verdict:
    """Judge an output that was saved with its tokens; report in tokens of `token_source` if they are its own.

    Args:
        grammar: as in `replay_text`; so are the other arguments.
        saved: the saved trace.
        token_source: the vocabulary.
        budget: the token budget.
        finish: why the generation ended.
        cancel: cancels the replay.
    """
    if token_source is not None and saved.is_of(token_source.vocabulary):
        return replay_ids(grammar, saved.ids, token_source, budget=budget, finish=finish, cancel=cancel)
    pieces = [piece for piece in saved.pieces if piece]
    return replay_pieces(grammar, pieces, budget=budget, finish=finish, cancel=cancel)


def verdict_on_error(error: GrammarError, output: bytes = b"") -> Verdict:
    """Build the verdict for a grammar that does not compile."""
    first = next(one for one in error.diagnostics if one.severity is Severity.ERROR)
    line, column = error.source.line_column(first.span.start)
    sentence = catalogue_text("verdicts.grammar.error", line=line, column=column, message=first.message)
    notes = (catalogue_text("verdicts.grammar.hint", hint=first.hint),) if first.hint else ()
    return Verdict(VerdictOutcome.GRAMMAR_ERROR, sentence, notes, output, diagnostics=error.diagnostics)


class _Replay:
    """The replay of one output, in steps that build on each other."""

    def __init__(
        self,
        grammar: CompiledGrammar,
        data: bytes,
        tokens: OutputTokens | None,
        token_source: TokenSource | None,
        budget: int | None,
        finish: str,
        cancel: CancelToken | None,
        *,
        advise: bool = True,
    ) -> None:
        self._advises = advise
        self._grammar, self._automaton = grammar, grammar.automaton
        self._data, self._tokens, self._token_source = data, tokens, token_source
        self._budget, self._cancel = budget, cancel
        self._finish = STOP if tokens is not None and tokens.ends else finish

    def verdict(self) -> Verdict:
        """Return the complete verdict."""
        given = (self._data, self._tokens, self._token_source, self._budget, self._finish, self._cancel)
        found = self._judge()
        if not self._advises or found.is_prefix or self._automaton.token_elements:
            return found
        for numbers in (True, False):
            relaxed = relaxed_grammar(self._grammar, self._data, self._cancel, numbers=numbers)
            if relaxed is None:
                continue
            other = _Replay(relaxed, *given).verdict()
            if not other.is_prefix and other.legal <= found.legal:
                continue
            front = other.skipped[0] if other.skipped else 0
            unusual = unusual_forms(self._grammar, self._data, front, self._cancel)
            unusual = tuple(each for each in unusual if numbers or not each.is_number)
            # If a number is refused in every form, Turnstile's own form explains it better.
            if not other.is_prefix and any(each.is_number and each.end >= other.legal for each in unusual):
                continue
            notes = tuple(unusual_form_note(self._data, each) for each in unusual)
            return replace(other, notes=(*notes, *other.notes))
        return found

    def _judge(self) -> Verdict:
        blank = Verdict(VerdictOutcome.EMPTY_LANGUAGE, "", data=self._data, diagnostics=self._grammar.diagnostics)
        if self._grammar.is_empty:
            return replace(blank, sentence=verdict_sentence(blank, self._grammar.source), notes=self._notes(blank))
        if self._tokens is None and self._token_source is not None:
            self._tokens = tokenise(
                self._data, self._token_source.vocabulary, self._automaton, self._token_source.encode
            )
            # the output is from another vocabulary, so its ending in tokens of this one is meaningless
            if self._tokens is None:
                self._token_source = None
        found = self._by_tokens(blank) if self._automaton.token_elements else self._by_bytes(blank)
        found = self._with_spelling(found)
        sentence = verdict_sentence(found, self._grammar.source, self._finish)
        return replace(found, sentence=sentence, notes=self._notes(found))

    def _notes(self, found: Verdict) -> tuple[str, ...]:
        notes = verdict_notes(found, self._grammar.source, self._finish, is_schema=self._is_json)
        is_about = found.failure is not None and found.outcome in (VerdictOutcome.ILLEGAL, VerdictOutcome.TEXT_BEFORE)
        if not (self._advises and is_about):
            return notes
        front = found.skipped[0] if found.skipped else 0
        return (*notes, *option_suggestions(self._grammar, self._data[front:], found.legal - front, self._cancel))

    # ------------------------------------------------------------------ by bytes

    def _by_bytes(self, blank: Verdict) -> Verdict:
        data, tokens, automaton = self._data, self._tokens, self._automaton
        foreign = None if tokens is None else tokens.foreign
        judged = data if tokens is None or foreign is None else data[: tokens.starts[foreign]]
        walked = walk(automaton, judged, self._cancel)
        front = 0
        if walked.legal < len(judged):
            front = output_start(automaton, judged, walked.legal)
            if front:
                walked = _shifted(walk(automaton, judged[front:], self._cancel), front)
        is_prefix = walked.legal == len(judged) and foreign is None
        accepting = automaton.accepts(walked.last)
        failure = None if is_prefix else self._failure(walked, front, foreign if walked.legal == len(judged) else None)
        found = replace(
            blank,
            outcome=self._outcome(walked, front, is_prefix=is_prefix, accepting=accepting, foreign=foreign),
            legal=walked.legal,
            is_prefix=is_prefix and not front,
            is_complete=is_prefix and accepting and not front,
            failure=failure,
            forced=walked.forced_ranges(),
            loops=output_loops(automaton, data, walked),
            skipped=(front, walked.legal if failure is not None and accepting else len(data)) if front else None,
            cut_character=is_in_character(data),
            cut_escape=is_prefix and not accepting and self._is_json and is_in_escape(data[front:]),
            tokens=self._replayed(walked, front, is_prefix=is_prefix, foreign=foreign),
        )
        if accepting and (is_prefix or found.outcome in (VerdictOutcome.TEXT_AFTER, VerdictOutcome.TEXT_BEFORE)):
            return found
        vocabulary = None if self._token_source is None else self._token_source.vocabulary
        ending = measure_completion(self._grammar, walked, tokens, vocabulary, self._budget, self._cancel)
        found = replace(found, ending=ending)
        if found.outcome is VerdictOutcome.CUT_OFF and any(c.blank and c.at_end for c in found.loops):
            found = replace(found, outcome=VerdictOutcome.LOOPS)
        return found

    @property
    def _is_json(self) -> bool:
        return self._grammar.describes_json

    def _outcome(
        self, walked: ReplayWalk, front: int, *, is_prefix: bool, accepting: bool, foreign: int | None
    ) -> VerdictOutcome:
        if front:
            return VerdictOutcome.TEXT_BEFORE
        if is_prefix:
            return VerdictOutcome.COMPLETE if accepting else VerdictOutcome.CUT_OFF
        if foreign is not None and self._tokens is not None and walked.legal == self._tokens.starts[foreign]:
            return VerdictOutcome.FOREIGN
        return VerdictOutcome.TEXT_AFTER if accepting and walked.legal else VerdictOutcome.ILLEGAL

    def _failure(self, walked: ReplayWalk, front: int, foreign: int | None) -> Failure:
        automaton, grammar, at = self._automaton, self._grammar, walked.last
        token = foreign
        if token is None and self._tokens is not None:
            token = self._tokens.token_at(walked.legal)
        return Failure(
            position_of_byte(self._data, walked.legal, token),
            expected=tuple(automaton.expected(at)),
            accepting=automaton.accepts(at),
            elements=elements(automaton, grammar, at),
            spans=self._nearest_first(automaton.spans(at), walked, front),
            stacks=stack_verdicts_of(grammar, at),
            missing=self._missing(walked, front),
        )

    def _nearest_first(self, spans: tuple[Span, ...], walked: ReplayWalk, front: int) -> tuple[Span, ...]:
        """Return the spans of a schema, those of the property whose value comes next first."""
        if not self._is_json:
            return spans
        keys = [part for part in open_path(self._data[front : walked.legal]) if isinstance(part, str)]
        if not keys:
            return spans
        wanted = escape_step(keys[-1])

        def is_other(span: Span) -> bool:
            found = pointers(self._grammar.source, (span,))
            return not found or found[0].rpartition("/")[2] != wanted

        return tuple(sorted(spans, key=is_other))

    def _missing(self, walked: ReplayWalk, front: int) -> tuple[str, ...]:
        """Return the properties that an object lacks where the output closes it."""
        here = self._data[walked.legal : walked.legal + 1]
        if not self._is_json or here != b"}" or is_in_string(self._data[front : walked.legal]):
            return ()
        completion = self._automaton.shortest_completion(walked.last, 2_000, self._cancel)
        return () if completion.text is None else added_properties(completion.text)

    def _replayed(
        self, walked: ReplayWalk, front: int, *, is_prefix: bool, foreign: int | None
    ) -> tuple[ReplayedToken, ...]:
        tokens = self._tokens
        if tokens is None:
            return ()
        starts, made = tokens.starts, []
        has_failed = False
        for index, (token_id, piece) in enumerate(zip(tokens.ids, tokens.pieces, strict=True)):
            start, end = starts[index], starts[index + 1]
            state = ReplayedTokenState.LEGAL
            if has_failed:
                state = ReplayedTokenState.BEYOND
            elif tokens.ends and index == len(tokens.ids) - 1:
                is_end = is_prefix and self._automaton.accepts(walked.last)
                state = ReplayedTokenState.END if is_end else ReplayedTokenState.ILLEGAL
            elif index == foreign or end > walked.legal:
                state, has_failed = ReplayedTokenState.ILLEGAL, True
            elif start < front:
                state = ReplayedTokenState.ILLEGAL
            forced = (
                bool(piece) and state is ReplayedTokenState.LEGAL and start >= front and all(walked.forced[start:end])
            )
            made.append(ReplayedToken(token_id, piece, tokens.names[index], start, state, forced))
        return tuple(made)

    # ------------------------------------------------------------------ token by token

    def _by_tokens(self, blank: Verdict) -> Verdict:
        """Judge by a grammar that names tokens; forced bytes and loops are not reported."""
        tokens, token_source = self._tokens, self._token_source
        assert tokens is not None and token_source is not None  # noqa: PT018 - the callers refuse everything else
        matcher = Matcher(self._grammar, token_source.vocabulary)
        made: list[ReplayedToken] = []
        failure = None
        legal = 0
        for index, (token_id, piece) in enumerate(zip(tokens.ids, tokens.pieces, strict=True)):
            assert token_id is not None
            state = ReplayedTokenState.BEYOND
            if failure is None:
                is_end = tokens.ends and index == len(tokens.ids) - 1
                state = ReplayedTokenState.END if is_end else ReplayedTokenState.LEGAL
                if not matcher.accept(token_id):
                    state = ReplayedTokenState.ILLEGAL
                    why = matcher.explain(token_id)
                    legal = tokens.starts[index] + (why.offset or 0)
                    place = position_of_byte(self._data, legal, index)
                    stacks, wanted = why.stacks or matcher.stacks(), why.expected
                    failure = Failure(place, wanted, why.accepting, why.tokens, why.spans, stacks)
                else:
                    legal = tokens.starts[index + 1]
            made.append(ReplayedToken(token_id, piece, tokens.names[index], tokens.starts[index], state))
        accepting = matcher.is_accepting
        if failure is None or (tokens.ends and failure.place.token == len(tokens.ids) - 1):
            outcome = VerdictOutcome.COMPLETE if accepting else VerdictOutcome.CUT_OFF
            failure = None
        elif tokens.foreign == failure.place.token:
            outcome = VerdictOutcome.FOREIGN
        else:
            outcome = VerdictOutcome.TEXT_AFTER if accepting and legal else VerdictOutcome.ILLEGAL
        found = replace(
            blank,
            outcome=outcome,
            legal=legal,
            is_prefix=failure is None,
            is_complete=failure is None and accepting,
            failure=failure,
            tokens=tuple(made),
        )
        if accepting:
            return found
        walked = ReplayWalk((matcher.configuration,), legal, ())
        ending = measure_completion(self._grammar, walked, None, token_source.vocabulary, None, self._cancel)
        used = sum(token.state is ReplayedTokenState.LEGAL for token in made)
        return replace(found, ending=replace(ending, used=used, budget=self._budget))

    # ------------------------------------------------------------------ tokenisation

    def _with_spelling(self, found: Verdict) -> Verdict:
        tokens, token_source = self._tokens, self._token_source
        if tokens is None:
            return found
        found = replace(found, spelled=tokens.origin)
        if token_source is None or tokens.origin is not tokens.origin.GIVEN:
            return found
        own = tokenizer_ids(self._data, token_source.vocabulary, token_source.encode)
        if own is None or tokens.foreign is not None:
            return found
        differs = divergence(tokens, own, token_source.vocabulary)
        return replace(found, divergence=differs, is_canonical=differs is None)


def _shifted(walked: ReplayWalk, front: int) -> ReplayWalk:
    """Return a walk that began later, with its bytes counted from the start of the output."""
    pad = (walked.configurations[0],) * front
    return ReplayWalk((*pad, *walked.configurations), walked.legal + front, (*((False,) * front), *walked.forced))
