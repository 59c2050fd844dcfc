"""The mask of a llama-server, read along any run.

llama.cpp samples first and applies the grammar only if the draw was illegal. So an illegal token, the *mark*, gets a
bias that makes its draw certain; then the grammar is applied to all tokens, and the answer lists those whose
probability is not 0. If the mark is drawn in the end, it was legal, and another one is tried: no assumption is made
about which tokens a grammar may allow.

**Steering.** The grammar reads the generated text alone, so the prompt is free. The sampler DRY lowers the logit of a
token that would continue a repetition of the context; a negative multiplier raises it. With the prompt
`mark … mark t1 … tn mark … mark`, DRY raises the tokens t1 to tn in turn: behind `mark … mark t1 … ti` only the
beginning of the prompt has as long a repetition. The number of marks is larger than the longest part that repeats
within the run, and shorter repetitions are ignored, so exactly one token is raised at each step; at the end it is the
mark itself. The drawn ids are compared with those that were wanted.

There are two forms. If the wanted token weighs more than the mark, it is drawn at once and the grammar is not applied
before the last step; other probabilities are 0, so no long lists are written on the way. If the mark weighs more, each
step of the run lists its mask, and the temperature keeps all probabilities above 0.

**Sketches.** A list of 50,000 tokens takes 0.7 s, so it is avoided. At a temperature beside which the model's logits
are nothing, all allowed tokens weigh the same, and the wanted one 2^22 times as much: it is nearly always drawn, and
its probability tells how many others are allowed. A short list has all tokens of a small mask. That a large mask is
the expected one is seen from one more request, in which the tokens outside of it weigh most: none is listed, and the
count is right.

The server lists nothing for a token that ends within a character. A last draw within a character is therefore
made unlikely; if nothing else is allowed, the mask is unknown.

Rejected: biases for the tokens of the run, which are the same at each step, so that they cannot write `1212`; a grammar
that begins with the text, which needs another grammar than the server has; lazy grammars, which start at a trigger, but
with the whole trigger as their text; the budget of reasoning, which forces tokens of a text and not ids.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Final

import numpy as np

from engine.servers.client import ServerClient, ServerError, UnreadableReplyError
from engine.servers.grammar_form import GrammarForm
from engine.servers.server_mask import Ids, MaskSketch, RunSketch, ServerMask, Unread
from engine.source.text import common_length
from engine.vocabulary import Vocabulary

_TIMEOUT_S: Final = 600.0
_ALL: Final = 1 << 24  # more tokens than any vocabulary has: the server lists all
_FLAT: Final = 1_000.0  # a temperature at which the model's own preferences are equal
# Logits in units of this temperature. A float32 probability is 0 from 104 below the best.
_DRAWN_AT_ONCE: Final = 400.0
_MARKED: Final = 200.0
_WANTED: Final = 40.0
_AVOIDED: Final = -50.0
_EVEN: Final = 2.0**33  # a temperature at which they are nothing beside a float32, and which divides without an error
_HEAVY: Final = float(np.float32(22 * np.log(2)))
_LIGHT: Final = float(np.exp(-_HEAVY))  # the weight of others beside a heavy token
_DOUBLE: Final = float(np.log(2))
_OUTSIDE: Final = 60.0
_GROUPS: Final = (80.0, 70.0, 60.0, 50.0, 40.0)  # all within 104 of the end and of others
_END: Final = 95.0
_LEAST_GROUP: Final = 30.0
_FORCED: Final = 200.0
_MARKED_EVEN: Final = 400.0
_UNEVEN: Final = 0.45  # the largest error of a count
_MOST_DRAWS: Final = 4  # of a run whose wanted token was not drawn, though the server allows it
_FREE_REPETITION: Final = 8  # tokens behind a run that may repeat
_MOST_MARKS: Final = 8
_FEW_MARKS: Final = 2  # where no mask was found before
_TRIED: Final = (b"\xff", b"\x00", b"\n", b'"', b"}", b"a", b"0", b" ", b"A", b"~")
_LEAD_BYTES: Final = ((0xE0, 0xC0, 2), (0xF0, 0xE0, 3), (0xF8, 0xF0, 4))


@dataclass(frozen=True, slots=True)
class _Run:
    """An answer.

    Attributes:
        drawn: the drawn ids.
        listed: ids and probabilities, the likeliest first, at each position whose draw ended a character.
    """

    drawn: list[int]
    listed: dict[int, list[tuple[int, float]]]

    def mask(self, position: int) -> Ids:
        """Return the listed ids at a position, ascending."""
        return _sorted([token_id for token_id, _ in self.listed[position]])


class LlamaMaskReader:
    """The `ServerMaskReader` of llama-server.

    Args:
        client: the server.
        vocabulary: the vocabulary of the runs.
        listed: the number of tokens that a sketch lists.
    """

    def __init__(self, client: ServerClient, vocabulary: Vocabulary, listed: int = 256) -> None:
        self._client, self._vocabulary, self._listed = client, vocabulary, listed
        self._avoided: dict[bytes, list[int]] = {}

    @cached_property
    def end_ids(self) -> frozenset[int]:
        """See `ServerMaskReader`: those that a grammar of the empty text allows."""
        found = self._at({"grammar": 'root ::= ""'}, ())
        return frozenset() if found.unread else frozenset(found.allowed.tolist())

    def constraint(self, form: GrammarForm, text: str) -> Mapping[str, Any]:
        """See `ServerMaskReader`: GBNF, or a schema."""
        if form is GrammarForm.REGEX:
            raise ServerError("errors.servers.no_regex")
        return {form: text if form is GrammarForm.GRAMMAR else json.loads(text)}

    def read(
        self, constraint: Mapping[str, Any], ids: Sequence[int], positions: Sequence[int]
    ) -> dict[int, ServerMask]:
        """Return the masks at some positions; see `ServerMaskReader`."""
        found: dict[int, ServerMask] = {}
        if len(positions) > 1:
            mark = next(self._marks(ids))
            run = self._run(constraint, ids[: max(positions)], mark, each=True)
            reached = common_length(run.drawn, ids)
            # Where the mark was drawn, it was legal, and the list was made before the grammar was applied.
            found = {at: ServerMask(run.mask(at)) for at in run.listed if at <= reached and run.drawn[at] != mark}
        is_masked, left = True, len(ids)  # the first token that the mask excludes; nothing is read behind it
        for position in sorted(positions):
            if position > left:
                found[position] = ServerMask(_sorted([]), Unread.LEFT)
            elif position not in found:
                found[position] = self._at(constraint, ids[:position], _MOST_MARKS if is_masked else _FEW_MARKS)
                is_masked = is_masked and found[position].unread is not Unread.UNMASKED
            mask = found[position]
            if mask.unread is Unread.LEFT or (
                mask.unread is None and position < len(ids) and ids[position] not in mask.allowed
            ):
                left = min(left, position)
        return {position: found[position] for position in positions}

    def _at(self, constraint: Mapping[str, Any], prefix: Sequence[int], most: int = _MOST_MARKS) -> ServerMask:
        """Return the mask behind some tokens, from as many runs as are needed to find an illegal mark.

        Args:
            constraint: the fields of a request that ask for the grammar.
            prefix: the tokens.
            most: the number of marks to try.
        """
        legal: list[int] = []
        for mark in islice(self._marks(prefix), most):
            run = self._run(constraint, prefix, mark, each=False)
            reached = common_length(run.drawn, prefix)
            if reached < len(prefix):
                return self._lost(constraint, prefix[: reached + 1])
            if run.drawn[len(prefix) :] == [mark]:
                legal.append(mark)
            elif len(prefix) in run.listed:
                return ServerMask(run.mask(len(prefix)))
            else:
                return ServerMask(_sorted(legal), Unread.CHARACTER)
        return ServerMask(_sorted(legal), Unread.UNMASKED if legal else Unread.STEERING)

    def _lost(self, constraint: Mapping[str, Any], prefix: Sequence[int]) -> ServerMask:
        """Return why a run did not draw the last of some tokens."""
        before = self._at(constraint, prefix[:-1])
        is_masked = before.unread is None and prefix[-1] not in before.allowed
        left = is_masked or before.unread is Unread.LEFT
        return ServerMask(_sorted([]), Unread.LEFT if left else Unread.STEERING)

    def _run(self, constraint: Mapping[str, Any], ids: Sequence[int], mark: int, *, each: bool) -> _Run:
        """Generate the tokens of a run and one more.

        Args:
            constraint: the fields of a request that ask for the grammar.
            ids: the tokens of the run.
            mark: a token that is not among them.
            each: list the mask at each position, and not only at the last.
        """
        biases: list[list[float]] = [[mark, _MARKED * _FLAT]]
        if not each:
            biases += ([token_id, _AVOIDED * _FLAT] for token_id in self._within_character(ids) if token_id != mark)
        steered = _steered(constraint, ids, mark, _WANTED if each else _DRAWN_AT_ONCE)
        return self._asked(steered, len(ids) + 1, biases, n_probs=_ALL)

    def _asked(self, steered: dict[str, Any], length: int, biases: list[list[float]], **fields: Any) -> _Run:
        """Return the answer to a steered request, with lists of tokens.

        Args:
            steered: the fields by which tokens are raised in turn.
            length: the number of tokens to generate.
            biases: what is added to the logits of tokens.
            fields: further fields of the request.
        """
        body = {
            **steered,
            "n_predict": length,
            "post_sampling_probs": True,
            "logit_bias": biases,
            "response_fields": ["tokens", "completion_probabilities"],
            **fields,
        }
        return self._read_run(self._client.post("/completion", body, timeout=_TIMEOUT_S))

    def sketch(self, constraint: Mapping[str, Any], ids: Sequence[int]) -> RunSketch:
        """See `SketchesMask`: the sketch of the longest part that was followed."""
        best = RunSketch((), ())
        for mark in islice(self._marks(ids), _FEW_MARKS):
            biases = [[mark, _MARKED_EVEN * _EVEN], *([one, _DOUBLE * _EVEN] for one in self.end_ids if one != mark)]
            steered = _steered(constraint, ids, mark, _HEAVY, temperature=_EVEN)
            for seed in range(_MOST_DRAWS):
                run = self._asked(steered, len(ids) + 1, biases, n_probs=self._listed, seed=seed)
                found = self._sketched(run, ids, mark)
                if len(found.masks) > len(best.masks) or found.is_left:
                    best = found
                if best.is_left or (len(best.masks) > len(ids) and best.masks[-1] is not None):
                    return best
                if mark in run.drawn:
                    break
        return best

    def _sketched(self, run: _Run, ids: Sequence[int], mark: int) -> RunSketch:
        """Return the sketches of the masks along a run, up to the first token that is not the wanted one."""
        reached, is_left = common_length(run.drawn, ids), False
        masks: list[MaskSketch | None] = []
        for position in range(min(reached + 1, len(run.drawn))):
            listed = run.listed.get(position)
            if listed is None or run.drawn[position] == mark:
                masks.append(None)  # a legal mark is drawn before the grammar is applied
                continue
            masks.append(self._counted(listed, ids[position] if position < len(ids) else None))
            is_left = position == reached < len(ids) and ids[position] != listed[0][0]
        return RunSketch(tuple(run.drawn[:reached]), tuple(masks), is_left)

    def _counted(self, listed: Sequence[tuple[int, float]], wanted: int | None) -> MaskSketch:
        """Return the sketch of a mask, whose size the probability of the best token tells.

        Args:
            listed: ids and probabilities, the likeliest first.
            wanted: the token that weighs more than others; None if there is none.
        """
        ids, (best, probability) = _sorted([token_id for token_id, _ in listed]), listed[0]
        if len(listed) < self._listed:
            return MaskSketch(ids, len(ids))
        ends = sum(token_id in self.end_ids for token_id, _ in listed)  # of double weight
        if best == wanted:
            size = (1 / probability - 1) / _LIGHT + 1 - ends
        else:
            size = (2 if best in self.end_ids else 1) / probability - ends
        return MaskSketch(ids, round(size) if abs(size - round(size)) < _UNEVEN else None)

    def allows_exactly(self, constraint: Mapping[str, Any], ids: Sequence[int], allowed: Ids) -> bool:
        """See `SketchesMask`: those outside weigh most, and one of the others is drawn, which tells their number.

        Args:
            constraint: the fields of a request that ask for the grammar.
            ids: the tokens of the run.
            allowed: the ids that are expected.
        """
        drawn = np.setdiff1d(allowed, self._within_character(ids))
        mark = next(self._marks(ids), None)
        if not drawn.size or mark is None or mark in allowed:
            return False
        levels = np.full(self._vocabulary.size, _OUTSIDE)
        levels[allowed] = 0.0
        base = 0.0 if 2 * allowed.size > levels.size else _OUTSIDE
        levels[list(self.end_ids)] = -_OUTSIDE
        levels[drawn[0]] = _HEAVY
        levels[mark] = base + _MARKED_EVEN
        biases = [[one, (levels[one] - base) * _EVEN] for one in np.flatnonzero(levels != base).tolist()]
        steered = _steered(constraint, ids, mark, 2 * _DRAWN_AT_ONCE, temperature=_EVEN)
        run = self._asked(steered, len(ids) + 1, biases, n_probs=1, seed=0)
        if len(ids) not in run.listed or run.drawn[: len(ids)] != list(ids):
            return False
        best, probability = run.listed[len(ids)][0]
        return best == drawn[0] and abs((1 / probability - 1) / _LIGHT + 1 - allowed.size) < _UNEVEN

    def continued(
        self, constraint: Mapping[str, Any], ids: Sequence[int], preferred: Sequence[Sequence[int]], most: int
    ) -> RunSketch:
        """See `SketchesMask`.

        Args:
            constraint: the fields of a request that ask for the grammar.
            ids: the tokens of the run.
            preferred: groups of tokens, the best first.
            most: the largest number of further tokens.
        """
        marks = (one for one in self._marks(ids) if not any(one in group for group in preferred))
        mark = next(marks, None)
        if mark is None:
            return RunSketch((), ())
        levels = dict.fromkeys(self.end_ids, _END) | {mark: _MARKED_EVEN}
        for number, group in enumerate(preferred):
            levels |= {one: _GROUPS[number] if number < len(_GROUPS) else _LEAST_GROUP for one in group}
        biases = [[one, level * _EVEN] for one, level in levels.items()]
        steered = _steered(constraint, ids, mark, _FORCED, temperature=_EVEN, repeats=_FREE_REPETITION)
        run = self._asked(steered, len(ids) + most, biases, n_probs=self._listed, seed=0)
        known = run.drawn[: run.drawn.index(mark)] if mark in run.drawn else run.drawn
        masks = (MaskSketch(run.mask(at)) if at in run.listed else None for at in range(len(known)))
        return RunSketch(tuple(known), tuple(masks))

    def _read_run(self, reply: Any) -> _Run:
        """Assign the listed tokens to positions: an answer has none for a draw that ends within a character."""
        try:
            drawn, listed = list(reply["tokens"]), iter(reply.get("completion_probabilities", ()))
            found, text = {}, b""
            for position, token_id in enumerate(drawn):
                text = (text + (self._bytes(token_id) or b""))[-4:]
                if _ends_within_character(text):
                    continue
                entry = next(listed)
                if entry["id"] != token_id:
                    raise ServerError("errors.servers.other_vocabulary_bytes", id=token_id)
                found[position] = self._checked(entry["top_probs"])
        except (KeyError, TypeError, StopIteration) as error:
            raise UnreadableReplyError("errors.servers.no_probabilities", address=self._client.address) from error
        return _Run(drawn, found)

    def _checked(self, tokens: Sequence[Mapping[str, Any]]) -> list[tuple[int, float]]:
        """Return ids and probabilities of listed tokens, whose bytes must be those of the vocabulary."""
        for one in tokens:
            known = self._bytes(one["id"])
            if one["bytes"] and known is not None and bytes(one["bytes"]) != known:
                raise ServerError("errors.servers.other_vocabulary_bytes", id=one["id"])
        return [(one["id"], float(one["prob"])) for one in tokens]

    def _bytes(self, token_id: int) -> bytes | None:
        if not 0 <= token_id < self._vocabulary.size:
            raise ServerError("errors.servers.other_vocabulary_bytes", id=token_id)
        return self._vocabulary.tokens[token_id]

    def _marks(self, ids: Sequence[int]) -> Iterator[int]:
        """Return tokens to try, outside of a run: control tokens first, which a grammar rarely allows."""
        tokens, ends = self._vocabulary.tokens, self._vocabulary.eos_ids
        controls = [token_id for token_id in self._vocabulary.special if token_id not in ends]
        single = {tokens[token_id]: token_id for token_id in reversed(range(len(tokens)))}
        tried = (single.get(data) for data in _TRIED)
        used = set(ids)
        return (one for one in (*controls[:2], *tried) if one is not None and one not in used)

    def _within_character(self, ids: Sequence[int]) -> list[int]:
        """Return the ids of the tokens behind which the text would end within a character."""
        tail = b"".join(self._bytes(token_id) or b"" for token_id in ids[-4:])[-3:]
        if not _ends_within_character(tail):
            tail = b""
        found = self._avoided.get(tail)
        if found is None:
            found = self._avoided[tail] = [
                token_id
                for token_id, token in enumerate(self._vocabulary.tokens)
                if token and _ends_within_character((tail + token)[-4:])
            ]
        return found


def draws_run(client: ServerClient, constraint: Mapping[str, Any], ids: Sequence[int]) -> bool:
    """Return whether a llama-server draws exactly these tokens under a grammar where each of them is made certain.

    llama.cpp draws another token only if the grammar excludes the certain one, so this decides a run in one short
    answer: that of a whole text, if the last token ends the output.

    Args:
        client: the server.
        constraint: the fields of a request that ask for the grammar.
        ids: the tokens.

    Raises:
        ServerError: the server refuses the grammar or the run.
        CancelledError: the work was cancelled.
    """
    mark = next(token_id for token_id in range(len(ids) + 1) if token_id not in ids)
    body = {
        **_steered(constraint, ids, mark, _DRAWN_AT_ONCE),
        "n_predict": len(ids),
        "response_fields": ["tokens"],
    }
    reply = client.post("/completion", body, timeout=_TIMEOUT_S)
    try:
        return list(reply["tokens"]) == list(ids)
    except (KeyError, TypeError) as error:
        raise UnreadableReplyError("errors.servers.no_probabilities", address=client.address) from error


def _steered(
    constraint: Mapping[str, Any],
    ids: Sequence[int],
    mark: int,
    weight: float,
    *,
    temperature: float = _FLAT,
    repeats: int = 0,
) -> dict[str, Any]:
    """Return the fields of a request by which DRY raises the tokens of a run in turn.

    Args:
        constraint: the fields that ask for the grammar.
        ids: the tokens of the run.
        mark: a token that is not among them.
        weight: by how much a token is raised, in units of the temperature.
        temperature: the temperature.
        repeats: the number of tokens that may be repeated behind the run.
    """
    marks = _longest_repetition(ids) + 1 + repeats
    return {
        **constraint,
        "prompt": [*[mark] * marks, *ids, *[mark] * marks],
        "return_tokens": True,
        "samplers": ["dry", "temperature"],
        "temperature": temperature,
        "dry_multiplier": -weight * temperature,
        "dry_base": 1.0,
        "dry_allowed_length": marks,
        "dry_penalty_last_n": 2 * (marks + len(ids)) + 1,
        "dry_sequence_breakers": [""],  # none; an empty list is refused
        "cache_prompt": True,
    }


def _ends_within_character(text: bytes) -> bool:
    """Return whether the last bytes of a text begin a character of UTF-8 and do not end it, as llama-server does."""
    return any(
        text[-number] & bits == lead and number < length
        for number in range(1, min(4, len(text)) + 1)
        for bits, lead, length in _LEAD_BYTES
    )


def _longest_repetition(ids: Sequence[int]) -> int:
    """Return the length of the longest part of a run that ends at two positions of it."""
    longest, row = 0, [0] * (len(ids) + 1)
    for end, token_id in enumerate(ids):
        next_row = [0] * (len(ids) + 1)
        for other in range(end):
            if ids[other] == token_id:
                next_row[other + 1] = row[other] + 1
        longest, row = max(longest, *next_row), next_row
    return longest


def _sorted(ids: Sequence[int]) -> Ids:
    return np.unique(np.array(ids, np.int64))
