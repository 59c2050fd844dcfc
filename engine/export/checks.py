"""Random walks: an export that was read back is compared with the engine, byte by byte or token by token.

Neither side has dead ends, so the sets of next bytes, or the masks over the complete vocabulary, are compared at every
step of a walk; a walk shows far more than a text that both accept. If an export has fewer texts than the grammar, as
its notes say, the engine must allow what the export allows, but not the reverse.

A walk draws a range of bytes first and then a byte in it, or a first byte and then one of the tokens that start with
it: a closing quote is as likely as all letters together, so walks end.

The readers of exports here share nothing with the runtimes that they are compared with. That for rules is Earley's
algorithm (CACM 13(2), 1970) in its simplest form: a state is the set of all live items (rule, state, origin of the
call).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.automata.byte_automaton import DEAD
from engine.automata.byte_classes import ByteRanges, join_ranges
from engine.automata.dfa.dfa import ByteDfa
from engine.automata.rtn.rule_automata import RuleAutomata
from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.export.graph.networks import bytes_text
from engine.export.target import Check, ExportJob, MismatchError
from engine.export.text.print_regex import Dialect
from engine.matching import Matcher
from engine.notations import NOTATIONS
from engine.source import GrammarError, LimitExceededError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

_END_CHANCE: Final = 0.25
"""The probability that a walk stops where it may."""

_SEED: Final = 0
"""Every check makes the same walks, so that a failure is reproducible."""

_SHOWN: Final = 60
_BYTE_WALKS: Final = 40
_BYTES: Final = 120  # of one walk, at most
_TOKEN_WALKS: Final = 24
_TOKENS: Final = 40  # of one walk, at most
_ILLEGAL: Final = 3
_NAMED: Final = 5


def _followed(job: ExportJob, walks: int, walk: Callable[[], int]) -> tuple[int, int]:
    """Run walks, each of which returns its number of steps; return their number and the sum of their steps.

    Args:
        job: the export job; receives progress.
        walks: the number of walks.
        walk: runs one walk.

    Raises:
        CancelledError: the job was cancelled.
    """
    total = 0
    for number in range(walks):
        job.cancel.report("progress.checking", number, walks)
        total += walk()
    return walks, total


def _shown(text: bytes) -> str:
    """Return the end of the walked text for a message."""
    return repr(text) if len(text) <= _SHOWN else f"…{text[-_SHOWN:]!r}"


class Recogniser(Protocol):
    """An automaton over bytes that a walk can follow."""

    @property
    def start(self) -> Any | None:
        """The state before the first byte; None if nothing matches."""

    def step(self, place: Any, byte: int) -> Any | None:
        """Return the state after a byte; None if no text continues so."""

    def expected(self, place: Any) -> ByteRanges:
        """Return the bytes that continue some text, as inclusive, ascending ranges with gaps between them."""

    def accepts(self, place: Any) -> bool:
        """Return whether a text may end here."""


class CompiledRecogniser:
    """A compiled grammar as a `Recogniser`."""

    def __init__(self, compiled: CompiledGrammar) -> None:
        self._automaton = compiled.automaton
        self.start: int | None = None if compiled.is_empty else compiled.automaton.start

    def step(self, place: int, byte: int) -> int | None:
        """Return the state after a byte; see `Recogniser`."""
        following = self._automaton.run(place, bytes((byte,)))
        return None if following == DEAD else following

    def expected(self, place: int) -> ByteRanges:
        """Return the next bytes; see `Recogniser`."""
        return join_ranges((self._automaton.expected(place),))

    def accepts(self, place: int) -> bool:
        """Return whether a text may end here."""
        return self._automaton.accepts(place)


class DfaRecogniser:
    """A complete minimal automaton as a `Recogniser`; all its states are live."""

    def __init__(self, dfa: ByteDfa) -> None:
        self._dfa = dfa
        self.start = dfa.start
        ranges: list[list[ByteRanges]] = [[] for _ in dfa.states]
        for edge in dfa.edges:
            ranges[edge.source].append(edge.ranges)
        self._expected = [join_ranges(row) for row in ranges]

    def step(self, place: int, byte: int) -> int | None:
        """Return the state after a byte; see `Recogniser`."""
        return self._dfa.step(place, byte)

    def expected(self, place: int) -> ByteRanges:
        """Return the next bytes; see `Recogniser`."""
        return self._expected[place]

    def accepts(self, place: int) -> bool:
        """Return whether a text may end here."""
        return self._dfa.states[place].accepting


def scope_of(compiled: CompiledGrammar) -> str:
    """Return what a walk over bytes cannot check of a grammar, a sentence; empty for nothing."""
    return catalogue_text("export.scope.tokens") if compiled.automaton.token_elements else ""


def walk_side_by_side(
    job: ExportJob,
    engine: Recogniser,
    export: Recogniser,
    *,
    holds_fewer: bool = False,
    walks: int = _BYTE_WALKS,
    steps: int = _BYTES,
) -> tuple[int, int]:
    """Compare an export with the engine on random walks.

    Args:
        job: its `cancel` is checked.
        engine: the expected behaviour.
        export: what was read back.
        holds_fewer: whether the export may lack texts that the engine has.
        walks: the number of walks.
        steps: the largest number of bytes of a walk.

    Returns:
        The number of walks, and of all their bytes.

    Raises:
        MismatchError: they differ; it names the text before, and what each allows.
        CancelledError: the job was cancelled.
    """
    chance = random.Random(_SEED)
    return _followed(job, walks, lambda: _walk(engine, export, chance, steps, holds_fewer=holds_fewer))


def _walk(engine: Recogniser, export: Recogniser, chance: random.Random, steps: int, *, holds_fewer: bool) -> int:
    ours, theirs, text = engine.start, export.start, bytearray()
    if ours is None and theirs is not None:
        raise MismatchError("errors.export.checks.empty_grammar")
    if ours is not None and theirs is None:
        raise MismatchError("errors.export.checks.empty_export")
    while ours is not None and theirs is not None and len(text) < steps:
        here, there = engine.expected(ours), export.expected(theirs)
        may_end, ends = engine.accepts(ours), export.accepts(theirs)
        ends_agree = ends <= may_end if holds_fewer else ends == may_end
        if not (ends_agree and _agree(here, there, holds_fewer=holds_fewer)):
            allowed, given = _said(here, may_end), _said(there, ends)
            raise MismatchError(
                "errors.export.checks.other_texts",
                text=_shown(bytes(text)),
                allowed=allowed,
                given=given,
            )
        if not there or (ends and chance.random() < _END_CHANCE):
            break
        first, last = chance.choice(there)
        byte = chance.randint(first, last)
        text.append(byte)
        ours, theirs = engine.step(ours, byte), export.step(theirs, byte)
    return len(text)


def _agree(here: ByteRanges, there: ByteRanges, *, holds_fewer: bool) -> bool:
    if not holds_fewer:
        return here == there
    return all(any(low <= first and last <= high for low, high in here) for first, last in there)


def _said(ranges: ByteRanges, accepting: bool) -> str:
    parts = [f"the bytes {bytes_text(ranges)}"] if ranges else []
    return " and ".join([*parts, *(["the end"] if accepting else [])]) or "nothing"


class TokenRecogniser(Protocol):
    """An automaton over tokens that a walk can follow."""

    @property
    def start(self) -> int:
        """The state before the first token."""

    def mask(self, state: int) -> bytes:
        """Return the allowed tokens: bit `i & 7` of byte `i >> 3`, in whole words of four bytes."""

    def advance(self, state: int, token_id: int) -> int | None:
        """Return the state after a token; None if it is not allowed."""


def walk_tokens(
    job: ExportJob,
    export: TokenRecogniser,
    *,
    holds_fewer: bool = False,
    walks: int = _TOKEN_WALKS,
    steps: int = _TOKENS,
) -> tuple[int, int]:
    """Compare an export with the matcher of the job's grammar and vocabulary; see `walk_side_by_side`.

    Args:
        job: the export job, with a vocabulary.
        export: what was read back.
        holds_fewer: whether the export may lack texts that the engine has.
        walks: the number of walks.
        steps: the largest number of tokens of a walk.
    """
    walker = _Walker(job, export, random.Random(_SEED), holds_fewer=holds_fewer)
    return _followed(job, walks, lambda: walker.walk(steps))


class _Walker:
    def __init__(self, job: ExportJob, export: TokenRecogniser, chance: random.Random, *, holds_fewer: bool) -> None:
        self._job, self._export, self._chance, self._fewer = job, export, chance, holds_fewer
        self._vocabulary = job.need_vocabulary()
        self._first = np.array([token[0] if token else -1 for token in self._vocabulary.tokens], np.int16)

    def walk(self, steps: int) -> int:
        """Walk both sides; return the number of tokens taken."""
        matcher = Matcher(self._job.compiled, self._vocabulary)
        state: int | None = self._export.start
        taken: list[int] = []
        for _ in range(steps + 1):
            self._job.cancel.check()
            assert state is not None
            allowed = self._compare(matcher, state, taken)
            self._try_illegal(state, allowed, taken)
            if len(taken) == steps or not allowed.any():
                break
            token_id = self._choose(allowed)
            state = self._export.advance(state, token_id)
            if not matcher.accept(token_id) or state is None:
                raise MismatchError("errors.export.checks.not_taken", text=self._shown(taken), token_id=token_id)
            taken.append(token_id)
        return len(taken)

    def _compare(self, matcher: Matcher, state: int, taken: list[int]) -> NDArray[np.bool_]:
        here = _bits(matcher.bitmask().tobytes(), self._vocabulary)
        there = _bits(self._export.mask(state), self._vocabulary)
        wrong = there & ~here if self._fewer else there ^ here
        if wrong.any():
            ids = np.flatnonzero(wrong)[:_NAMED].tolist()
            named = ", ".join(f"{one} {self._vocabulary.tokens[one]!r}" for one in ids)
            who = "the export" if there[ids[0]] else "the engine"
            raise MismatchError(
                "errors.export.checks.other_mask",
                text=self._shown(taken),
                count=int(wrong.sum()),
                who=who,
                named=named,
            )
        return there

    def _try_illegal(self, state: int, allowed: NDArray[np.bool_], taken: list[int]) -> None:
        for token_id in (self._chance.randrange(allowed.shape[0]) for _ in range(_ILLEGAL)):
            if not allowed[token_id] and self._export.advance(state, token_id) is not None:
                raise MismatchError("errors.export.checks.taken", text=self._shown(taken), token_id=token_id)

    def _choose(self, allowed: NDArray[np.bool_]) -> int:
        final = [one for one in sorted(self._vocabulary.eos_ids) if allowed[one]]
        others = allowed.copy()
        others[final] = False
        ids = np.flatnonzero(others)
        if final and (not ids.shape[0] or self._chance.random() < _END_CHANCE):
            return self._chance.choice(final)
        first = self._first[ids]  # a token without text has no first byte
        group = ids[first == self._chance.choice(np.flatnonzero(np.bincount(first + 1)).tolist()) - 1]
        return int(group[self._chance.randrange(group.shape[0])])

    def _shown(self, taken: list[int]) -> str:
        return _shown(b"".join(self._vocabulary.tokens[one] or b"<%d>" % one for one in taken))


def _bits(mask: bytes, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Return a mask as bool[V]."""
    if len(mask) != 4 * ((vocabulary.size + 31) // 32):
        raise MismatchError("errors.export.checks.mask_width", count=len(mask), size=vocabulary.size)
    flags = np.unpackbits(np.frombuffer(mask, np.uint8), bitorder="little")
    if flags[vocabulary.size :].any():
        raise MismatchError("errors.export.checks.mask_outside")
    return flags[: vocabulary.size].astype(np.bool_)


def check_text(
    job: ExportJob,
    notation: str,
    text: str,
    compared: str,
    *,
    fewer: bool,
    scope: str = "",
    walks: int = _BYTE_WALKS,
    dialect: Dialect = "python",
) -> Check:
    """Compile a text and compare it with the job's grammar on random walks.

    Args:
        job: the export job.
        notation: the notation of the text.
        text: the text.
        compared: the description for `Check`.
        fewer: whether the text may lack texts of the grammar.
        scope: what the check cannot see.
        walks: the number of walks.
        dialect: the dialect of a regex.

    Raises:
        MismatchError: it does not compile, or they differ.
        CancelledError: the job was cancelled.
    """
    assert notation in NOTATIONS
    # The text was written by Turnstile, so limits that guard against foreign input do not apply to its size.
    limits = job.compiled.options.limits
    limits = replace(limits, source_length=max(limits.source_length, len(text)))
    with refused_as_mismatch():
        again = compile_grammar(notation, text, CompileOptions(dialect=dialect, limits=limits), cancel=job.cancel)
    engine, export = CompiledRecogniser(job.compiled), CompiledRecogniser(again)
    walked, steps = walk_side_by_side(job, engine, export, holds_fewer=fewer, walks=walks)
    return Check(compared, walked, steps, scope)


@contextmanager
def refused_as_mismatch() -> Iterator[None]:
    """Turn errors of reading an export back into a `MismatchError`."""
    try:
        yield
    except (GrammarError, LimitExceededError) as error:
        raise MismatchError("errors.export.checks.unreadable", reason=str(error)) from error


def recogniser_of(automata: ByteDfa | RuleAutomata) -> Recogniser:
    """Return automata as a `Recogniser`."""
    return DfaRecogniser(automata) if isinstance(automata, ByteDfa) else RuleRecogniser(automata)


class _Position:
    """A position between two bytes: its items, and where each rule that is called here continues."""

    __slots__ = ("at", "items", "returns")

    def __init__(self, at: int) -> None:
        self.at = at
        self.items: dict[_Item, None] = {}
        self.returns: dict[int, list[_Item]] = {}


_Item: TypeAlias = tuple[int, int, _Position]
"""A rule, one of its states, and the position of its call."""


class RuleRecogniser:
    """A grammar's rule automata as a `Recogniser`; tokens matched by id are no bytes and are not followed."""

    def __init__(self, automata: RuleAutomata) -> None:
        self._rules = automata.rules
        numbers = automata.numbers
        self._calls: list[list[list[tuple[int, int]]]] = []
        self._ranges: list[list[list[ByteRanges]]] = []
        for rule in automata.rules:
            self._calls.append([[] for _ in rule.dfa.states])
            self._ranges.append([[] for _ in rule.dfa.states])
            for call in rule.calls:
                self._calls[-1][call.source].append((numbers[call.rule], call.target))
            for edge in rule.dfa.edges:
                self._ranges[-1][edge.source].append(edge.ranges)
        self._nullable = self._find_nullable()

    @property
    def start(self) -> _Position | None:
        """The state before the first byte; see `Recogniser`."""
        if not self._rules:
            return None
        here = _Position(0)
        return self._close(here, [(0, 0, here)])

    def step(self, place: _Position, byte: int) -> _Position | None:
        """Return the state after a byte; see `Recogniser`."""
        read = [(rule, self._rules[rule].dfa.step(state, byte), origin) for rule, state, origin in place.items]
        kernel = [(rule, state, origin) for rule, state, origin in read if state is not None]
        return self._close(_Position(place.at + 1), kernel) if kernel else None

    def expected(self, place: _Position) -> ByteRanges:
        """Return the next bytes; see `Recogniser`."""
        return join_ranges(ranges for rule, state, _ in place.items for ranges in self._ranges[rule][state])

    def accepts(self, place: _Position) -> bool:
        """Return whether a text may end here."""
        return any(rule == 0 == origin.at and self._is_over(rule, state) for rule, state, origin in place.items)

    def _is_over(self, rule: int, state: int) -> bool:
        return self._rules[rule].dfa.states[state].accepting

    def _close(self, here: _Position, todo: list[_Item]) -> _Position:
        """Predict, complete, and skip nullable rules, until nothing is new."""
        while todo:
            item = rule, state, origin = todo.pop()
            if item in here.items:
                continue
            here.items[item] = None
            for called, target in self._calls[rule][state]:
                behind = rule, target, origin
                here.returns.setdefault(called, []).append(behind)
                todo.append((called, 0, here))
                if called in self._nullable:
                    todo.append(behind)
            if origin is not here and self._is_over(rule, state):
                todo += origin.returns.get(rule, [])
        return here

    def _find_nullable(self) -> set[int]:
        """Return the nullable rules, as a fixpoint."""
        found: set[int] = set()
        while True:
            more = {
                number for number in range(len(self._rules)) if number not in found and self._is_empty(number, found)
            }
            if not more:
                return found
            found |= more

    def _is_empty(self, rule: int, nullable: set[int]) -> bool:
        todo, seen = [0], {0}
        while todo:
            state = todo.pop()
            if self._is_over(rule, state):
                return True
            reached = {target for called, target in self._calls[rule][state] if called in nullable} - seen
            seen |= reached
            todo += reached
        return False


class IndexRecogniser:
    """A token index that was read back, as a `TokenRecogniser`.

    Args:
        start: the first state; None if nothing matches.
        accepting: the states where the text may end.
        indptr: int64[S + 1], where the transitions of each state begin.
        tokens: int32[T], ascending within a state.
        targets: int32[T].
        vocabulary: the vocabulary of the tokens.

    Raises:
        MismatchError: the arrays are no index over the vocabulary.
    """

    ENDED = -1
    NOWHERE = -2

    def __init__(
        self,
        start: int | None,
        accepting: Iterable[int],
        indptr: NDArray[Any],
        tokens: NDArray[Any],
        targets: NDArray[Any],
        vocabulary: Vocabulary,
    ) -> None:
        self.start = self.NOWHERE if start is None else start
        self._accepting = frozenset(accepting)
        self._indptr, self._tokens, self._targets = indptr, tokens, targets
        self._vocabulary = vocabulary
        states = indptr.shape[0] - 1
        fits = (
            indptr.shape[0] > 0
            and indptr[0] == 0
            and int(indptr[-1]) == tokens.shape[0] == targets.shape[0]
            and (np.diff(indptr) >= 0).all()
            and (start is None or 0 <= start < states)
            and (not tokens.shape[0] or (tokens.min() >= 0 and tokens.max() < vocabulary.size))
            and (not targets.shape[0] or (targets.min() >= 0 and targets.max() < states))
        )
        if not fits:
            raise MismatchError("errors.export.checks.other_index")

    def mask(self, state: int) -> bytes:
        """Return the mask of a state; see `TokenRecogniser`."""
        flags = np.zeros(32 * ((self._vocabulary.size + 31) // 32), np.bool_)
        flags[self._tokens[self._row(state)]] = True
        if state in self._accepting:
            flags[list(self._vocabulary.eos_ids)] = True
        return np.packbits(flags, bitorder="little").tobytes()

    def advance(self, state: int, token_id: int) -> int | None:
        """Return the state after a token; see `TokenRecogniser`."""
        if token_id in self._vocabulary.eos_ids:
            return self.ENDED if state in self._accepting else None
        row = self._row(state)
        at = row.start + int(np.searchsorted(self._tokens[row], token_id))
        return int(self._targets[at]) if at < row.stop and self._tokens[at] == token_id else None

    def _row(self, state: int) -> slice:
        return slice(int(self._indptr[state]), int(self._indptr[state + 1])) if state >= 0 else slice(0, 0)
