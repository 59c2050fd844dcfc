"""A running server as an engine of a comparison.

A request generates with the model, and a list of a mask of 50,000 tokens takes most of a second. So masks are not
listed where that can be avoided: one request sketches all masks along a text, and tells how many tokens each allows.
Small masks are known from that. A large one is compared with what our own automaton allows there. Where the server
allows others, its mask is listed, and the tokens that it gains and loses are expected at other places, too. What was
expected rightly a few times is then recognised by the number of tokens alone.

A server is asked less than an engine on this machine: by amounts of work and not of time, so that equal arguments still
give equal results. What is not asked or cannot be read is unknown, and no difference.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from engine.compile import CompileOptions, compile_grammar
from engine.peers.masks import FollowedText, FollowedTexts, Preference
from engine.peers.run_masks import Allowed, OwnMasks, RunMask, ServerMasks
from engine.servers import KINDS, ServerClient, ServerError, identify
from engine.servers.served_model import ServesModel
from engine.servers.server_mask import (
    Ids,
    MaskSketch,
    RunSketch,
    ServerMaskReader,
    ShowsMask,
    SketchesMask,
    Unread,
    mask_reader,
)
from engine.source import CancelledError, CancelToken, EngineError
from engine.source.text import common_length
from engine.vocabulary import Vocabulary

MOST_SERVER_STEPS: Final = 300
"""The default for the largest number of steps with a server; see `MOST_STEPS`."""
# Amounts of work, counted in tokens that the server generates.
_MOST_WORK: Final = 3_000
_REQUEST: Final = 6
_LIST: Final = 30
_MOST_LISTS: Final = 8  # under one grammar
_ENOUGH: Final = 3  # masks for which a change was right
_MOST_OF_QUESTION: Final = 48  # texts that are new
_LONGEST: Final = 40  # tokens of a text that are followed
_AHEAD: Final = 24  # tokens that a server goes on at a time
_MOST_COMPLETION: Final = 120  # tokens
_Ids = tuple[int, ...]
_UNKNOWN: Final = FollowedText((), is_cut=True)


class AttachedEngine:
    """A server whose masks are read; for the attributes see `ComparedEngine`.

    Args:
        client: the server.
        notation: the id of the notation of the grammars.
        vocabulary: the vocabulary of a tokenizer; None for that of the server.
        options: the options of our own compiles.
        cancel: cancels a compile.

    Attributes:
        vocabulary: the vocabulary of the masks.

    Raises:
        ServerError: the server cannot be asked, shows no mask, or has no vocabulary to read.
    """

    def __init__(
        self,
        client: ServerClient,
        notation: str,
        vocabulary: Vocabulary | None = None,
        *,
        options: CompileOptions = CompileOptions(),  # noqa: B008 - frozen
        cancel: CancelToken | None = None,
    ) -> None:
        self._client, self._notation = client, notation
        self._options, self._cancel = options, cancel or CancelToken()
        self._identity = identify(client)
        kind = KINDS[self._identity.kind]
        self.name, self.version = kind.title, self._identity.version
        if not isinstance(kind, ShowsMask):
            raise ServerError("errors.servers.no_mask", kind=kind.title)
        if vocabulary is None:
            if not isinstance(kind, ServesModel) or kind.needs_tokenizer:
                raise ServerError("errors.servers.vocabulary_needed", kind=kind.title)
            vocabulary = kind.model(client, self._identity, None).vocabulary
        self.vocabulary = vocabulary
        self._reader: ServerMaskReader = mask_reader(client, self._identity, vocabulary)
        self._preference = Preference(vocabulary)
        self._masks: dict[str, _SourceMasks] = {}
        self._known: dict[tuple[str, _Ids], FollowedText] = {}
        self._work = 0

    def require_mask(self, source: str) -> None:
        """Check that the server applies a mask, unless it refuses the grammar.

        Raises:
            ServerError: it applies none, or cannot be asked.
        """
        if self._masks_of(source).unread is Unread.UNMASKED:
            raise ServerError("errors.servers.unmasked", kind=self.name, address=self._client.address)

    def follow(self, source: str, paths: Sequence[_Ids]) -> FollowedTexts:
        """See `ComparedEngine`; texts beyond the amounts of this module are unknown."""
        masks = self._masks_of(source)
        if masks.unread is Unread.REFUSED:
            return FollowedTexts(refused=masks.reason)
        new = [path for path in dict.fromkeys(paths) if (source, path) not in self._known]
        asked = 0
        for path in new:
            text = masks.remembered(path)
            if text is None and asked < _MOST_OF_QUESTION and self._work < _MOST_WORK:
                asked += 1
                text = masks.followed(path)
                self._work += masks.taken_work()
            if text is not None:
                self._known[source, path] = text
        return FollowedTexts(tuple(self._known.get((source, path), _UNKNOWN) for path in paths))

    def timed(self, source: str, path: _Ids) -> tuple[float, float] | None:
        """Return the seconds of a request for a first token, and for each token of a text, with the model's own.

        Args:
            source: the grammar.
            path: a text that the server accepts.

        Returns:
            None if nothing can be followed.
        """
        masks, times = self._masks_of(source), list[float]()
        if masks.unread is not None or not path:
            return None
        for asked in ((), path):
            start = time.perf_counter()
            masks.asked_once(asked)
            times.append(time.perf_counter() - start)
        return times[0], times[1] / (len(path) + 1)

    def complete(self, source: str, path: _Ids) -> _Ids | None:
        """See `ComparedEngine`: the server goes on by itself, unless another token ends the text sooner."""
        masks, text, visits = self._masks_of(source), list(path), dict[_Ids, int]()
        if masks.unread is not None:
            return None
        while len(text) < len(path) + _MOST_COMPLETION and self._work < _MOST_WORK:
            self._work += _REQUEST + len(text) + _AHEAD
            ahead, known = masks.ahead(text, self._preference.groups, _AHEAD), len(text)
            if common_length(ahead.drawn, text) < known or len(ahead.masks) <= known:
                return None
            for drawn, mask in zip(ahead.drawn[known:], ahead.masks[known:], strict=True):
                if drawn in masks.ends or (mask is not None and masks.ends.intersection(mask.listed.tolist())):
                    return tuple(text)
                chosen = drawn if mask is None else self._chosen(drawn, mask, visits)
                text.append(chosen)
                if chosen != drawn:
                    break
        return None

    def _chosen(self, drawn: int, mask: MaskSketch, visits: dict[_Ids, int]) -> int:
        """Return the token to go on with: where the same tokens are allowed again, the next of them."""
        allowed = set(mask.listed.tolist())
        choices = self._preference.among(allowed.__contains__)
        if not choices:
            return drawn
        visit = visits[tuple(choices)] = visits.get(tuple(choices), -1) + 1
        best = choices[visit % len(choices)]
        return drawn if self._preference.is_as_good(drawn, best) else best

    def _masks_of(self, source: str) -> _SourceMasks:
        if source not in self._masks:
            self._work += _REQUEST
            masks = ServerMasks(
                self._client, self._identity, self._notation, source, self.vocabulary, reader=self._reader
            )
            self._masks[source] = _SourceMasks(masks, self._own_masks(source), self.vocabulary)
        return self._masks[source]

    def _own_masks(self, source: str) -> OwnMasks | None:
        """Return our own masks of a grammar; None if it does not compile."""
        try:
            grammar = compile_grammar(self._notation, source, self._options, cancel=self._cancel)
        except CancelledError:
            raise
        except EngineError:
            return None
        return OwnMasks(grammar, self.vocabulary)


class _SourceMasks:
    """The masks of a server under one grammar, of which as few as possible are listed.

    Args:
        masks: the masks of the server.
        own: our own ones; None if there are none.
        vocabulary: the vocabulary of both.

    Attributes:
        ends: the ids that end an output.
        unread: why nothing can be followed; None if it can.
        reason: the same in words.
    """

    def __init__(self, masks: ServerMasks, own: OwnMasks | None, vocabulary: Vocabulary) -> None:
        self._masks, self._own, self._vocabulary = masks, own, vocabulary
        first = masks.along((), (0,))[0]
        self.unread = first.unread if first.unread in (Unread.REFUSED, Unread.UNMASKED) else None
        self.reason = first.reason
        self.ends = masks.reader.end_ids | vocabulary.eos_ids if self.unread is None else frozenset[int]()
        self._words: dict[_Ids, bytes] = {}
        self._seen = set[bytes]()  # masks that the server was seen to have where they are expected
        self._confirmed: Counter[int] = Counter()  # for each change, how often it was right
        none = np.empty(0, np.int64)
        self._changes = [(none, none)]  # of our masks: tokens that the server alone allows, and that we alone allow
        self._listed: dict[int, list[Allowed]] = {}  # masks that were listed, by their numbers of tokens
        self._counts = True  # whether the sizes of sketches are those of lists
        self._lists = self._work = 0

    def taken_work(self) -> int:
        """Return the amount of work since the last call."""
        work, self._work = self._work, 0
        return work

    def remembered(self, path: _Ids) -> FollowedText | None:
        """Return how the server reads a text, if that is known from texts with the same beginning."""
        known: list[bytes] = []
        for position in range(len(path) + 1):
            words = self._words.get(path[:position])
            if words is None:
                return None
            known.append(words)
            if position < len(path) and words and not words[path[position] >> 3] >> (path[position] & 7) & 1:
                break
        return FollowedText(tuple(known))

    def asked_once(self, path: _Ids) -> None:
        """Ask about a text, and drop the answer."""
        reader, constraint = self._masks.reader, self._masks.constraint
        if isinstance(reader, SketchesMask):
            reader.sketch(constraint, path)
        else:
            reader.read(constraint, path, (len(path),))

    def followed(self, path: _Ids) -> FollowedText:
        """Return how the server reads a text."""
        asked = path[:_LONGEST]
        reader = self._masks.reader
        self._work += _REQUEST + len(asked)
        if not isinstance(reader, SketchesMask) or not self._counts or self.unread is not None:
            text = self._read_whole(asked)
        else:
            run = reader.sketch(self._masks.constraint, asked)
            own = {} if self._own is None else self._own.along(asked, range(len(run.masks)))
            for position, sketch in enumerate(run.masks):
                prefix = asked[:position]
                if not self._words.get(prefix):
                    self._words[prefix] = self._known_words(prefix, sketch, own.get(position))
            known = tuple(self._words[asked[:position]] for position in range(len(run.masks)))
            text = FollowedText(known, is_cut=len(known) <= len(asked) and not run.is_left)
        return text if len(asked) == len(path) or text.reached < len(asked) else FollowedText(text.masks, is_cut=True)

    def ahead(self, ids: Sequence[int], preferred: Sequence[Sequence[int]], most: int) -> RunSketch:
        """Return what the server draws behind a text, and what it allows there; see `SketchesMask.continued`."""
        reader = self._masks.reader
        if isinstance(reader, SketchesMask):
            return reader.continued(self._masks.constraint, ids, preferred, most)
        self._work += _LIST
        mask = self._masks.along(ids, (len(ids),))[len(ids)]
        allowed = mask.ids
        if mask.reason or not allowed:
            return RunSketch((), ())
        listed = MaskSketch(np.array(allowed, np.int64), len(allowed))
        return RunSketch((*ids, allowed[0]), (*[None] * len(ids), listed))

    def _read_whole(self, path: _Ids) -> FollowedText:
        """Return how the server reads a text, with all masks listed."""
        found, known = self._masks.along(path, range(len(path) + 1)), list[bytes]()
        for position in range(len(path) + 1):
            mask = found[position]
            if mask.reason:
                return FollowedText(tuple(known), is_cut=mask.unread is not Unread.LEFT)
            self._words[path[:position]] = mask.words
            known.append(mask.words)
        return FollowedText(tuple(known))

    def _known_words(self, prefix: _Ids, sketch: MaskSketch | None, own: Allowed | None) -> bytes:
        """Return the mask behind a text; no bytes if it is not known.

        Args:
            prefix: the tokens of the text.
            sketch: what is known of the mask; None for nothing.
            own: what we allow there, bool[V]; None if the text is not ours.
        """
        if sketch is not None and sketch.count == len(sketch.listed):
            return self._words_of(sketch.listed)
        if sketch is not None and own is not None:
            ends = np.array(sorted(self.ends), np.int64)
            expected = np.setdiff1d(np.flatnonzero(own), ends)
            for number, (gained, lost) in enumerate(self._changes):
                changed = np.setdiff1d(np.union1d(expected, gained), lost)
                mask = np.union1d(changed, np.intersect1d(sketch.listed, ends))
                key = changed.tobytes()
                if sketch.count in (None, len(mask)) and np.isin(sketch.listed, mask).all():
                    is_enough = sketch.count is not None and (key in self._seen or self._confirmed[number] >= _ENOUGH)
                    if is_enough or self._is_allowed(prefix, changed):
                        self._confirmed[number] += 0 if is_enough else 1
                        self._seen.add(key)
                        return self._words_of(mask)
            words = self._listed_words(prefix, sketch)
            if words:
                found = np.setdiff1d(RunMask(words).ids, ends)
                self._changes.append((np.setdiff1d(found, expected), np.setdiff1d(expected, found)))
            return words
        return self._listed_words(prefix, sketch)

    def _is_allowed(self, prefix: _Ids, expected: Ids) -> bool:
        reader = self._masks.reader
        self._work += _REQUEST + len(prefix)
        return isinstance(reader, SketchesMask) and reader.allows_exactly(self._masks.constraint, prefix, expected)

    def _listed_words(self, prefix: _Ids, sketch: MaskSketch | None) -> bytes:
        """Return a mask that is recognised, or listed by the server."""
        count = None if sketch is None else sketch.count
        if sketch is not None and count is not None:
            for known in self._listed.get(count, ()):
                if known[sketch.listed].all():
                    return self._masks.words_of(known.copy())
        if self._lists >= _MOST_LISTS:
            return b""
        self._lists += 1
        self._work += _LIST + len(prefix)
        mask = self._masks.along(prefix, (len(prefix),))[len(prefix)]
        if mask.reason:
            return b""
        listed = mask.allowed(self._vocabulary.size)
        if sketch is not None and count is not None:
            # A server has some of the ids that end an output, a mask has all of them.
            listed[list(self.ends)] = False
            listed[sketch.listed] = True
            self._counts = int(listed.sum()) == count
            if self._counts:
                self._listed.setdefault(count, []).append(listed)
        return mask.words

    def _words_of(self, ids: Ids) -> bytes:
        allowed = np.zeros(self._vocabulary.size, np.bool_)
        allowed[ids] = True
        return self._masks.words_of(allowed)
