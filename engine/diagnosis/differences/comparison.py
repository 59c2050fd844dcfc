"""The comparison: follow texts in both engines, find the prefixes at which their masks part, and explain them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Final

import numpy as np

from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.differences.attached import AttachedEngine
from engine.diagnosis.differences.causes import Explainer
from engine.diagnosis.differences.directed_walk import directed_texts, keywords_of
from engine.diagnosis.differences.engines import ComparedEngine, PeerEngine
from engine.diagnosis.differences.reference import Reference
from engine.diagnosis.differences.values import DifferenceReport, Parting, RefusedGrammar
from engine.diagnosis.failures.counterfactual import without_keywords
from engine.masking.bitmask import unpack_mask
from engine.peers.adapter import BYTES, GreedyTokenizer, Peer, eos_id_of
from engine.peers.bench import vocabulary_with_end
from engine.peers.masks import FollowedText
from engine.servers import ServerClient
from engine.servers.keys import key_of
from engine.source import CancelToken, TimeUpError
from engine.vocabulary import Vocabulary

MOST_STEPS: Final = 3_000
"""The default for the largest number of steps: texts that are followed, and prefixes at which masks are compared."""
_BATCHES: Final = (4, 8, 16)  # texts: few at first, so that a difference is seen early
_BATCH: Final = 24
_OF_WALK: Final = 0.6  # of the time limit, if something is left to be explained
_MOST_IDLE: Final = 480  # texts without a new prefix, after which the walk has seen what it can
_NUMBERS: Final = re.compile(r"\d+")  # messages have times and positions
_Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WalkOptions:
    """The texts that both engines follow.

    Attributes:
        texts: texts to follow first.
        seed: the seed of the others.
        steps: the largest number of steps: texts that are followed, and prefixes at which masks are compared.
        seconds: the time limit of the comparison; None for no limit.
    """

    texts: tuple[bytes, ...] = ()
    seed: int = 0
    steps: int = MOST_STEPS
    seconds: float | None = None


def compare_engines(
    engines: tuple[ComparedEngine, ComparedEngine],
    vocabulary: Vocabulary,
    constraint: RequestConstraint,
    walk: WalkOptions = WalkOptions(),
    cancel: CancelToken | None = None,
    show: Callable[[Parting], object] = lambda _parting: None,
) -> DifferenceReport:
    """Compare two engines on a grammar.

    Equal arguments give equal results, unless the time limit ends the walk.

    Args:
        engines: the first engine, and the one that is compared with it.
        vocabulary: the vocabulary of both, with an EOS id.
        constraint: the grammar, with the options of the compile by which differences are explained.
        walk: the texts that are followed.
        cancel: cancels the comparison, and receives the number of compared prefixes as progress.
        show: receives the first prefix with a difference as soon as it is found.

    Raises:
        GrammarError: the grammar does not compile.
        PeerAbsentError: an engine cannot be used.
        CancelledError: `cancel` was used.
    """
    cancel = cancel or CancelToken()
    reference = Reference(constraint.notation, constraint.text, constraint.options, cancel)
    named = tuple((one.name, one.version) for one in engines)
    names = (named[0], named[1])
    refusals = tuple(_refusals(engines, reference))
    if refusals:
        return DifferenceReport(names, refusals=refusals)
    walked = _Walk(engines, vocabulary, reference, cancel)
    explainer = Explainer(engines, vocabulary, reference, walked.followed, walk.seed)
    with cancel.within(walk.seconds):
        try:
            walked.run(directed_texts(reference, walk.texts, walk.seed, walked.refused), walk, show)
        except TimeUpError:
            walked.is_cut_by_time = True
        differences, is_explained = explainer.differences(walked.partings)
    return DifferenceReport(
        names,
        tuple(differences),
        checked=len(walked.compared),
        texts=len(walked.followed),
        unexplained=explainer.unexplained,
        is_cut_by_time=walked.is_cut_by_time or not is_explained,
    )


def compare_named(
    engines: tuple[Peer | str, Peer | str],
    constraint: RequestConstraint,
    walk: WalkOptions = WalkOptions(),
    *,
    vocabulary: Vocabulary | None = None,
    key: Callable[[str], str] = key_of,
    cancel: CancelToken | None = None,
    show: Callable[[Parting], object] = lambda _parting: None,
) -> tuple[DifferenceReport, Vocabulary]:
    """Compare two engines, each an installed one, in a process of its own, or a running server; see `compare_engines`.

    Args:
        engines: the first engine, and the one that is compared with it; a server is its address.
        constraint: the grammar, with the options of Turnstile's compiles.
        walk: the texts that are followed.
        vocabulary: the vocabulary of both; None for that of a server, or of bytes without a server.
        key: returns the key of a server.
        cancel: cancels the comparison, and receives its progress.
        show: receives the first prefix with a difference as soon as it is found.

    Returns:
        the result, and the vocabulary.
    """
    cancel = cancel or CancelToken()
    names = tuple(one if isinstance(one, str) else one.name for one in engines)
    with cancel.within(walk.seconds), ExitStack() as stack:
        try:
            servers: dict[int, AttachedEngine] = {}
            for index, address in enumerate(engines):
                if isinstance(address, str):
                    client = stack.enter_context(ServerClient(address, key=key(address), cancel=cancel))
                    servers[index] = AttachedEngine(
                        client, constraint.notation, vocabulary, options=constraint.options, cancel=cancel
                    )
                    servers[index].require_mask(constraint.text)
                    vocabulary = servers[index].vocabulary
            shared = BYTES if vocabulary is None else vocabulary_with_end(vocabulary)
            first, second = (
                servers[index]
                if isinstance(peer, str)
                else stack.enter_context(
                    PeerEngine(peer, shared, constraint.notation, options=constraint.options, cancel=cancel)
                )
                for index, peer in enumerate(engines)
            )
            return compare_engines((first, second), shared, constraint, walk, cancel, show), shared
        except TimeUpError:
            return DifferenceReport(((names[0], ""), (names[1], "")), is_cut_by_time=True), vocabulary or BYTES


def _refusals(engines: Iterable[ComparedEngine], reference: Reference) -> Iterator[RefusedGrammar]:
    """Yield the engines that do not compile the grammar, each with the keyword without which it does."""
    for engine in engines:
        reason = engine.follow(reference.source, [()]).refused
        if reason:
            yield RefusedGrammar(engine.name, reason, _refused_keyword(engine, reference, reason))


def _refused_keyword(engine: ComparedEngine, reference: Reference, reason: str) -> str | None:
    """Return the keyword without which an engine compiles a schema, or refuses it for another reason."""
    other: str | None = None
    for pointer in sorted(keywords_of(reference), key=lambda one: -one.count("/")):
        changed = json.dumps(without_keywords(json.loads(reference.source), (pointer,)), ensure_ascii=False)
        refused = engine.follow(changed, [()]).refused
        if not refused:
            return pointer
        if other is None and _NUMBERS.sub("", refused) != _NUMBERS.sub("", reason):
            other = pointer
    return other


class _Walk:
    """Follows texts in both engines.

    Attributes:
        partings: the prefixes at which the masks differ, without repetition.
        compared: the prefixes at which both masks were compared.
        followed: the texts that were followed.
        refused: the prefixes that an engine refuses.
    """

    def __init__(
        self,
        engines: tuple[ComparedEngine, ComparedEngine],
        vocabulary: Vocabulary,
        reference: Reference,
        cancel: CancelToken,
    ) -> None:
        self._engines, self._reference, self._cancel = engines, reference, cancel
        self._tokenizer = GreedyTokenizer(vocabulary)
        self._unequal = unequal_tokens(vocabulary)
        self.partings: list[Parting] = []
        self.compared = set[_Ids]()
        self.followed: list[_Ids] = []
        self.refused = set[bytes]()
        self._idle = 0
        self.is_cut_by_time = False

    def run(self, texts: Iterator[bytes], walk: WalkOptions, show: Callable[[Parting], object]) -> None:
        """Follow texts until there were enough steps."""
        sizes = chain(_BATCHES, repeat(_BATCH))
        end = None if walk.seconds is None else time.monotonic() + _OF_WALK * walk.seconds
        while self._steps < walk.steps and self._idle < _MOST_IDLE:
            if self.partings and end is not None and time.monotonic() > end:
                self.is_cut_by_time = True
                return
            spelled = [self._tokenizer.spell(text) for text in islice(texts, next(sizes))]
            if not spelled:
                return
            is_first = not self.partings
            paths = [tuple(ids) for ids in spelled if ids is not None]
            found = [one.follow(self._reference.source, paths).texts for one in self._engines]
            for path, first, second in zip(paths, *found, strict=True):
                self._compare(path, first, second, walk.steps)
            if is_first and self.partings:
                show(self.partings[0])
            self._cancel.report("progress.checking", self._steps, walk.steps)

    @property
    def _steps(self) -> int:
        return len(self.compared) + len(self.followed)

    def _compare(self, path: _Ids, first: FollowedText, second: FollowedText, most_steps: int) -> None:
        self.followed.append(path)
        self._idle += 1
        reached = min(first.reached, second.reached)
        if reached < len(path):
            self.refused.add(b"".join(map(self._tokenizer.token_bytes, path[: reached + 1])))
        for length in range(min(len(first.masks), len(second.masks))):
            prefix = path[:length]
            if prefix in self.compared or not (first.masks[length] and second.masks[length]):
                continue  # no bytes: unknown
            if self._steps >= most_steps:
                return
            self.compared.add(prefix)
            self._idle = 0
            gained, lost = self._unequal(first.masks[length], second.masks[length])
            if gained or lost:
                data = b"".join(map(self._tokenizer.token_bytes, prefix))
                self.partings.append(Parting(prefix, data, gained, lost))
        for number, (one, other) in enumerate(((first, second), (second, first))):
            if one.failure and len(other.masks) >= len(one.masks):
                prefix = path[: len(one.masks)]
                data = b"".join(map(self._tokenizer.token_bytes, prefix))
                self.partings.append(Parting(prefix, data, failure=one.failure, failed=number))


def unequal_tokens(vocabulary: Vocabulary) -> Callable[[bytes, bytes], tuple[_Ids, _Ids]]:
    """Return a function that returns the tokens that only the second, and only the first of two masks allows.

    Ids without bytes are not compared, except the EOS id that is passed to all engines.
    """
    comparable = np.array([bool(token) for token in vocabulary.tokens])
    comparable[eos_id_of(vocabulary)] = True
    known: dict[tuple[bytes, bytes], tuple[_Ids, _Ids]] = {}

    def unequal(first: bytes, second: bytes) -> tuple[_Ids, _Ids]:
        if first == second:
            return (), ()
        if (first, second) not in known:
            one, other = (
                unpack_mask(np.frombuffer(mask, np.int32), vocabulary.size) & comparable for mask in (first, second)
            )
            known[first, second] = _ids(other & ~one), _ids(one & ~other)
        return known[first, second]

    return unequal


def _ids(flags: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> _Ids:
    return tuple(np.flatnonzero(flags).tolist())
