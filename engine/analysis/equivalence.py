"""Comparison of the languages of two grammars: equal, included, or a shortest text that only one of them has.

Two automata are walked side by side. A pair of states of which only one accepts, or only one is live, proves a
difference, because every live configuration can be completed. If the walk runs out of pairs, the answer is exact.
Otherwise it is bounded by a count of pairs, so that the answer does not depend on the machine.

Two walks exist:

- Over pairs of configurations, breadth first (Hopcroft and Karp, *A linear algorithm for testing equivalence of finite
  automata*, 1971, but without merging equivalent states, which would lose the shortest text). It is exact for all
  regular languages. The configurations of recursive rules have no end.
- Over pairs of frames, for two schemas. JSON is visibly pushdown (Alur and Madhusudan, STOC 2004): both automata open
  and close their levels at the same bytes, so a level is explored once for each pair of frames that begins it, and
  all that open such a level continue after each of its ends (the tabulation of Reps, Horwitz and Sagiv, POPL 1995,
  shortest first as in `schema_automaton.pushdown.completion`). So it is exact for schemas that nest without bound.
  Where the text itself decides (`uniqueItems`), the path is dropped, and the first walk takes over.

Beyond the bound of a walk, random ones look for the differences that are missing (`random_walks`).

The equivalence of recursive rules is undecidable in general, but an edit of their layout, comments, names or order is
none of the language: rules that are written alike are equal without a walk.

Bytes are tried in the order of their legibility, so that a text is one that a person would write.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from engine.analysis.language_comparison import LanguageComparison
from engine.analysis.random_walks import differing_texts
from engine.automata.actions import NEEDS_TEXT, POP, decode
from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.automata.completion_search import LEGIBLE
from engine.compile import CompiledGrammar
from engine.grammar import Chars, Grammar, Lookaround, Node, Repeat, RuleReference, TokenSet
from engine.grammar.nodes import children
from engine.grammar.simplify import simplify_grammar
from engine.schema_automaton.lexing.lexer import symbol_of
from engine.source import CancelToken, LimitExceededError, checkpoint
from engine.source.arguments import require, require_count

BOUNDED_EFFORT: Final = 20_000
"""The pairs of configurations that are visited by default if they have no end; each takes up to a millisecond."""
EXACT_EFFORT: Final = 1_000_000
"""The pairs that are visited by default if they have an end; most take less than a tenth of a millisecond."""

_EFFORT_WITH_TEXT: Final = 1_000  # configurations that differ by a text have no end, and take milliseconds each
_EFFORT_AT_FIRST: Final = 500  # of a walk that may have no end, before random walks
_REPORT_EVERY: Final = 64
_ENDED: Final = -1  # instead of a frame: the value has ended, and the lexer state is the number of its ending


def compare_languages(
    first: CompiledGrammar, second: CompiledGrammar, *, effort: int | None = None, cancel: CancelToken | None = None
) -> LanguageComparison:
    """Compare the texts of two grammars, of any notation each.

    The automata grow by what is visited, up to their own limits: give grammars that nothing else needs.

    Args:
        first: the first grammar.
        second: the second grammar.
        effort: the most pairs that each walk visits; None for `EXACT_EFFORT` or `BOUNDED_EFFORT`.
        cancel: checked at every pair; receives the progress.

    Raises:
        TypeError: an argument has the wrong type.
        CancelledError: `cancel` was used.
    """
    require("first", first, CompiledGrammar, "a CompiledGrammar")
    require("second", second, CompiledGrammar, "a CompiledGrammar")
    if effort is not None:
        require_count("effort", effort, 1)
    cancel = cancel or CancelToken()
    with cancel.scope():
        if _are_written_alike(first, second):
            return LanguageComparison(None, None, is_exact=True, n_visited=0, length=None)
        walk = _walk(first, second, effort, cancel)
    only_first, only_second = walk.texts
    assert only_first is None or (first.fullmatch(only_first) and not second.fullmatch(only_first))
    assert only_second is None or (second.fullmatch(only_second) and not first.fullmatch(only_second))
    # A token that is taken as a unit is no text.
    has_units = bool(first.automaton.token_elements or second.automaton.token_elements)
    is_exact = walk.is_complete and not (has_units and None in walk.texts)
    return LanguageComparison(only_first, only_second, is_exact, walk.n_visited, None if is_exact else walk.length)


def _are_written_alike(first: CompiledGrammar, second: CompiledGrammar) -> bool:
    """Return whether two grammars have the same texts because they are written in the same way."""
    if first.grammar is not None and second.grammar is not None:
        return _are_alike(first.grammar, second.grammar)
    texts, options = (first.source.text, second.source.text), (first.options, second.options)
    return first.notation == second.notation and texts[0] == texts[1] and options[0] == options[1]


def _are_alike(one: Grammar, two: Grammar) -> bool:
    """Return whether two grammars have the same rules, apart from their names, their order and unused ones.

    The pairs of rules that are compared form a bisimulation: if each pair has the same structure, it has the same
    texts.
    """
    rules, others = ({rule.name: rule.node for rule in simplify_grammar(grammar).rules} for grammar in (one, two))
    pairs = {(one.start, two.start)}
    pending: list[tuple[Node, Node]] = [(rules[one.start], others[two.start])]
    while pending:
        checkpoint()
        node, other = pending.pop()
        if isinstance(node, RuleReference) and isinstance(other, RuleReference):
            names = node.name, other.name
            if names not in pairs:
                pairs.add(names)
                pending.append((rules[node.name], others[other.name]))
            continue
        if _label(node) != _label(other):
            return False
        pending += zip(children(node), children(other), strict=True)
    return True


def _label(node: Node) -> tuple[object, ...]:
    """Return what a node is, apart from its parts and its place in the source."""
    match node:
        case Chars():
            own: tuple[object, ...] = (node.set,)
        case Repeat():
            own = node.minimum, node.maximum
        case Lookaround():
            own = node.ahead, node.negated
        case TokenSet():
            own = node.names, node.ids, node.negated
        case _:
            own = ()
    return type(node), len(children(node)), *own


def _walk(first: CompiledGrammar, second: CompiledGrammar, effort: int | None, cancel: CancelToken) -> _PairWalk:
    """Return the finished walk that knows most about two grammars."""
    one, two = first.automaton, second.automaton
    pairs, limit = _ConfigurationPairs(one, two, cancel), effort or BOUNDED_EFFORT
    found: list[tuple[int, bytes]] = []
    if all(side.start == DEAD or _has_frames(side) for side in (one, two)):
        frames = _FramePairs(one, two, effort or EXACT_EFFORT, cancel)
        if frames.is_complete:
            return frames
        if not frames.needs_text:
            frames.add_longer([*differing_texts(one, two, cancel)])
            return frames
        found += ((side, text) for side, text in enumerate(frames.texts) if text is not None)
        pairs.n_visited = frames.n_visited
        limit = frames.n_visited + min(limit, _EFFORT_WITH_TEXT)
    elif first.is_regular and second.is_regular:
        pairs.run(effort or EXACT_EFFORT)
        return pairs
    pairs.run(min(limit, pairs.n_visited + _EFFORT_AT_FIRST))
    if not pairs.is_complete:  # before the walk may fill an automaton up to its limit
        found += differing_texts(one, two, cancel)
        pairs.run(limit)
        pairs.add_longer(found)
    return pairs


def _has_frames(automaton: ByteAutomaton) -> bool:
    """Return whether an automaton has a stack of frames."""
    return bool(automaton.stack_top(automaton.start, 1)[1])


class _PairWalk:
    """A walk over pairs of states.

    Attributes:
        texts: a shortest text that only the first automaton accepts, and one that only the second accepts.
        n_visited: the number of pairs that were visited.
        is_complete: whether no pair is left that could lead to a text that is missing or shorter.
        length: if not, the longest length up to which every text was compared.
    """

    def __init__(self, one: ByteAutomaton, two: ByteAutomaton, cancel: CancelToken) -> None:
        self.texts: list[bytes | None] = [None, None]
        self.n_visited = 0
        self.is_complete = False
        self.length = 0
        self._one, self._two, self._cancel = one, two, cancel

    def add_longer(self, texts: Sequence[tuple[int, bytes]]) -> None:
        """Add texts that were found otherwise, each with the number of the automaton that accepts it, where none is."""
        for side in (0, 1):
            if self.texts[side] is None:
                self.texts[side] = min((text for of, text in texts if of == side), key=len, default=None)

    def _visit(self, effort: int) -> bool:
        """Count a pair and return True; return False if there were enough."""
        if self.n_visited % _REPORT_EVERY == 0:
            total = effort if effort < EXACT_EFFORT else None  # a walk with an end does not know where it is
            self._cancel.report("progress.comparing", self.n_visited, total)
        if self.n_visited == effort:
            return False
        self.n_visited += 1
        return True

    def _is_needed(self, left: int, right: int) -> bool:
        """Return whether texts from a pair may be missing; `DEAD` for a side that nothing completes."""
        if DEAD not in (left, right):
            return None in self.texts
        return (left != DEAD and self.texts[0] is None) or (right != DEAD and self.texts[1] is None)


class _ConfigurationPairs(_PairWalk):
    """A walk over pairs of configurations, breadth first.

    Pairs are numbered in the order of the texts that reach them, shortest first, then by the legibility of their bytes.
    """

    def __init__(self, one: ByteAutomaton, two: ByteAutomaton, cancel: CancelToken) -> None:
        super().__init__(one, two, cancel)
        classes: dict[tuple[int, int], int] = {}
        for byte in LEGIBLE:
            classes.setdefault((one.classes.of_byte[byte], two.classes.of_byte[byte]), byte)
        self._moves = [(left, right, byte) for (left, right), byte in classes.items()]
        self._pairs: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._reached_from: list[tuple[int, int, int]] = []  # the predecessor, the byte after it, and the length
        self._next = 0
        self._reach((one.start, two.start), -1, 0, 0)

    def run(self, effort: int) -> None:
        """Go on until that many pairs were visited, or none is left."""
        while self._next < len(self._pairs):
            left, right = self._pairs[self._next]
            self.length = self._reached_from[self._next][2]
            if self._is_needed(left, right):
                if not self._visit(effort):
                    return
                try:
                    self._expand(self._next, left, right)
                except LimitExceededError:
                    return
            self._next += 1
        self.is_complete = True

    def _expand(self, number: int, left: int, right: int) -> None:
        row = self._one.row(left) if left != DEAD else [DEAD] * self._one.n_classes
        other = self._two.row(right) if right != DEAD else [DEAD] * self._two.n_classes
        checkpoint(4 + len(self._moves) // 4)
        length = self._reached_from[number][2] + 1
        pairs: dict[tuple[int, int], int] = {}
        for i, j, byte in self._moves:
            pairs.setdefault((row[i], other[j]), byte)
        for pair, byte in pairs.items():
            if pair not in self._numbers:
                self._reach(pair, number, byte, length)

    def _reach(self, pair: tuple[int, int], before: int, byte: int, length: int) -> None:
        left, right = pair
        if not self._is_needed(left, right):
            return
        self._numbers[pair] = len(self._pairs)
        self._pairs.append(pair)
        self._reached_from.append((before, byte, length))
        accepts = self._one.accepts(left), self._two.accepts(right)
        for side in (0, 1):
            if accepts[side] and not accepts[1 - side] and self.texts[side] is None:
                self.texts[side] = self._text(len(self._pairs) - 1)

    def _text(self, number: int) -> bytes:
        text = bytearray()
        while number > 0:
            number, byte, _ = self._reached_from[number]
            text.append(byte)
        return bytes(reversed(text))


class _Level(NamedTuple):
    """The frames with which a value begins in both automata; `DEAD` in one that has died before."""

    left: int
    right: int


class _Pair(NamedTuple):
    """A pair of states within a level: the frame and the lexer state of each automaton.

    A frame is `DEAD` in an automaton that has died, with `DEAD` as its state, and `_ENDED` where the value has ended,
    with the number of the ending.
    """

    level: _Level
    left: int
    left_state: int
    right: int
    right_state: int


class _Step(NamedTuple):
    """A step of one automaton: the kind of its action, 0 for none; the frame and the lexer state, or the ending."""

    kind: int
    frame: int
    state: int
    below: int
    reread: bool


_ORDER: Final = np.frombuffer(LEGIBLE, np.uint8)
_DIED: Final = _Step(0, DEAD, DEAD, DEAD, reread=False)
_Caller: TypeAlias = "tuple[_Pair, int, int, int, bytes]"
"""A pair that opens a level, the frames below that, the length of the text before it, and the byte that opens it."""


class _FramePairs(_PairWalk):
    """A walk over pairs of frames, shortest first within each level.

    Attributes:
        needs_text: whether paths were dropped because the text itself decides.
    """

    def __init__(self, one: ByteAutomaton, two: ByteAutomaton, effort: int, cancel: CancelToken) -> None:
        super().__init__(one, two, cancel)
        self.needs_text = False
        self._queue: list[tuple[int, int, _Pair]] = []
        self._count = 0
        self._best: dict[_Pair, int] = {}
        # The pair before, the byte after it, and the end of the value that follows them.
        self._reached_from: dict[_Pair, tuple[_Pair | None, bytes, _Pair | None]] = {}
        self._callers: dict[_Level, list[_Caller]] = {}
        self._ends: dict[_Level, list[_Pair]] = {}
        self._moves_of: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        (left, left_frame), (right, right_frame) = _start(one), _start(two)
        self._root = _Level(left_frame, right_frame)
        self._reach(_Pair(self._root, left_frame, left, right_frame, right), 0, (None, b"", None))
        self._run(effort)

    def _run(self, effort: int) -> None:
        done: set[_Pair] = set()
        while self._queue:
            cost, _, pair = heapq.heappop(self._queue)
            self.length = max(self.length, cost - 1)  # some state of each path that is left is in the queue
            if pair in done or not self._is_needed(pair.left, pair.right):
                continue
            done.add(pair)
            if not self._visit(effort):
                return
            try:
                self._expand(pair, cost)
            except LimitExceededError:
                return
        self.is_complete = not self.needs_text

    def _reach(self, pair: _Pair, cost: int, reached_from: tuple[_Pair | None, bytes, _Pair | None]) -> None:
        known = self._best.get(pair)
        if (known is None or cost < known) and self._is_needed(pair.left, pair.right):
            self._best[pair], self._reached_from[pair] = cost, reached_from
            self._count += 1
            heapq.heappush(self._queue, (cost, self._count, pair))

    def _expand(self, pair: _Pair, cost: int) -> None:
        level, left, left_state, right, right_state = pair
        if _ENDED in (left, right):
            self._end(pair, cost)
            return
        if level == self._root and (left not in (DEAD, level.left) or right not in (DEAD, level.right)):
            if DEAD in (left, right):  # the text has ended, in one of them
                self.texts[0 if right == DEAD else 1] = self._text(pair)
            return
        ended = [_DIED, _DIED]  # the ends of numbers, after which the byte is read again
        for byte, entry, other in self._moves(left_state, right_state):
            one, two = _step(self._one, left, entry), _step(self._two, right, other)
            if one is None or two is None:
                self.needs_text = True
                continue
            if one.kind == POP and one.reread:
                ended[0], one = one, _DIED
            if two.kind == POP and two.reread:
                ended[1], two = two, _DIED
            self._follow(pair, cost, one, two, bytes((byte,)))
        self._follow(pair, cost, ended[0], ended[1], b"")

    def _follow(self, pair: _Pair, cost: int, one: _Step, two: _Step, byte: bytes) -> None:
        """Reach what follows a pair after a step of both automata, at least one of which lives on."""
        if one.frame == two.frame == DEAD:
            return
        live = one if one.frame != DEAD else two
        assert DEAD in (one.frame, two.frame) or (one.kind, one.reread) == (two.kind, two.reread)
        read = b"" if live.reread else byte
        cost += len(read)
        level = pair.level
        if live.below == DEAD:
            following = _Pair(level, one.frame, one.state, two.frame, two.state)
            self._reach(following, cost, (pair, read, None))
            return
        opened = _Level(one.frame, two.frame)
        caller = (pair, one.below, two.below, cost, read)
        self._callers.setdefault(opened, []).append(caller)
        self._reach(_Pair(opened, one.frame, one.state, two.frame, two.state), 0, (None, b"", None))
        for end in self._ends.get(opened, ()):
            self._return(end, caller)

    def _end(self, end: _Pair, cost: int) -> None:
        """Continue after the end of a value, wherever it began."""
        self._ends.setdefault(end.level, []).append(end)
        checkpoint(1 + len(self._callers[end.level]))
        for caller in self._callers[end.level]:
            self._return(end, caller)

    def _return(self, end: _Pair, caller: _Caller) -> None:
        pair, left, right, cost, read = caller
        left = self._one.return_action(left, end.left_state) if end.left == _ENDED else DEAD
        right = self._two.return_action(right, end.right_state) if end.right == _ENDED else DEAD
        if NEEDS_TEXT in (left, right):
            self.needs_text = True
        elif left != DEAD or right != DEAD:
            following = _Pair(pair.level, left, _begin(self._one, left), right, _begin(self._two, right))
            self._reach(following, cost + self._best[end], (pair, read, end))

    def _moves(self, left: int, right: int) -> list[tuple[int, int, int]]:
        """Return the entries of two lexer states, each pair of entries once, with the most legible of its bytes."""
        moves = self._moves_of.get((left, right))
        if moves is None:
            row, other = _row(self._one, left), _row(self._two, right)
            checkpoint(16)
            _, firsts = np.unique(row.astype(np.int64) << 32 | other.view(np.uint32), return_index=True)
            firsts.sort()
            entries = zip(firsts.tolist(), row[firsts].tolist(), other[firsts].tolist(), strict=True)
            moves = [(LEGIBLE[i], entry, its) for i, entry, its in entries if entry != DEAD or its != DEAD]
            self._moves_of[left, right] = moves
        return moves

    def _text(self, end: _Pair) -> bytes:
        pieces: list[bytes] = []
        todo: list[_Pair | bytes] = [end]
        while todo:
            part = todo.pop()
            if isinstance(part, bytes):
                pieces.append(part)
            else:
                todo += [piece for piece in self._reached_from[part] if piece]
        return b"".join(reversed(pieces))


def _row(automaton: ByteAutomaton, state: int) -> npt.NDArray[np.int32]:
    """Return the entries of a lexer state, in the order of the legibility of their bytes."""
    automaton.complete(state)
    row: npt.NDArray[np.int32] = automaton.rows[state][automaton.class_of_byte[_ORDER]]
    return row


def _start(automaton: ByteAutomaton) -> tuple[int, int]:
    """Return the lexer state and the frame before the first byte; `DEAD` if there is no text."""
    state, frames = automaton.stack_top(automaton.start, 1)
    return state, frames[0] if automaton.start != DEAD else DEAD


def _begin(automaton: ByteAutomaton, frame: int) -> int:
    """Return the lexer state in which a frame begins."""
    return DEAD if frame == DEAD else automaton.actions.start(frame)


def _step(automaton: ByteAutomaton, frame: int, entry: int) -> _Step | None:
    """Return the step of a frame at an entry of its lexer state; None if the text itself decides."""
    if DEAD in (frame, entry):
        return _DIED
    if entry > DEAD:
        return _Step(0, frame, entry, DEAD, reread=False)
    action = automaton.stack_action(frame, symbol_of(entry))
    if action in (DEAD, NEEDS_TEXT):
        return None if action == NEEDS_TEXT else _DIED
    kind, top, below, reread = decode(action)
    if kind == POP:
        return _Step(POP, _ENDED, top, DEAD, reread)
    return _Step(kind, top, _begin(automaton, top), below, reread)
