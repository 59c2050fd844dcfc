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
from engine.servers.server_mask import Ids, ServerMask, Unread, common_length
from engine.vocabulary import Vocabulary

_TIMEOUT_S: Final = 600.0
_ALL: Final = 1 << 24  # more tokens than any vocabulary has: the server lists all
_FLAT: Final = 1_000.0  # a temperature at which the model's own preferences are equal
# Logits in units of this temperature. A float32 probability is 0 from 104 below the best.
_DRAWN_AT_ONCE: Final = 400.0
_MARKED: Final = 200.0
_WANTED: Final = 40.0
_AVOIDED: Final = -50.0
_MOST_MARKS: Final = 8
_FEW_MARKS: Final = 2  # where no mask was found before
_TRIED: Final = (b"\xff", b"\x00", b"\n", b'"', b"}", b"a", b"0", b" ", b"A", b"~")
_LEAD_BYTES: Final = ((0xE0, 0xC0, 2), (0xF0, 0xE0, 3), (0xF8, 0xF0, 4))


@dataclass(frozen=True, slots=True)
class _Run:
    """An answer.

    Attributes:
        drawn: the drawn ids.
        masks: the listed ids at each position whose draw ended a character.
    """

    drawn: list[int]
    masks: dict[int, Ids]


class LlamaMaskReader:
    """The `ServerMaskReader` of llama-server.

    Args:
        client: the server.
        vocabulary: the vocabulary of the runs.
    """

    def __init__(self, client: ServerClient, vocabulary: Vocabulary) -> None:
        self._client, self._vocabulary = client, vocabulary
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
            found = {at: ServerMask(mask) for at, mask in run.masks.items() if at <= reached and run.drawn[at] != mark}
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
            elif (mask := run.masks.get(len(prefix))) is not None:
                return ServerMask(mask)
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
        body = {
            **_steered(constraint, ids, mark, _WANTED if each else _DRAWN_AT_ONCE),
            "n_predict": len(ids) + 1,
            "n_probs": _ALL,
            "post_sampling_probs": True,
            "logit_bias": biases,
            "response_fields": ["tokens", "completion_probabilities"],
        }
        return self._read_run(self._client.post("/completion", body, timeout=_TIMEOUT_S))

    def _read_run(self, reply: Any) -> _Run:
        """Assign the listed tokens to positions: an answer has none for a draw that ends within a character."""
        try:
            drawn, listed = list(reply["tokens"]), iter(reply.get("completion_probabilities", ()))
            masks, text = {}, b""
            for position, token_id in enumerate(drawn):
                text = (text + (self._bytes(token_id) or b""))[-4:]
                if _ends_within_character(text):
                    continue
                entry = next(listed)
                if entry["id"] != token_id:
                    raise ServerError("errors.servers.other_vocabulary_bytes", id=token_id)
                masks[position] = self._checked(entry["top_probs"])
        except (KeyError, TypeError, StopIteration) as error:
            raise UnreadableReplyError("errors.servers.no_probabilities", address=self._client.address) from error
        return _Run(drawn, masks)

    def _checked(self, tokens: Sequence[Mapping[str, Any]]) -> Ids:
        """Return the ids of listed tokens, whose bytes must be those of the vocabulary."""
        for one in tokens:
            known = self._bytes(one["id"])
            if one["bytes"] and known is not None and bytes(one["bytes"]) != known:
                raise ServerError("errors.servers.other_vocabulary_bytes", id=one["id"])
        return _sorted([one["id"] for one in tokens])

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


def _steered(constraint: Mapping[str, Any], ids: Sequence[int], mark: int, weight: float) -> dict[str, Any]:
    """Return the fields of a request by which DRY raises the tokens of a run in turn.

    Args:
        constraint: the fields that ask for the grammar.
        ids: the tokens of the run.
        mark: a token that is not among them.
        weight: by how much a token is raised, in units of the temperature.
    """
    marks = _longest_repetition(ids) + 1
    return {
        **constraint,
        "prompt": [*[mark] * marks, *ids, *[mark] * marks],
        "return_tokens": True,
        "samplers": ["dry", "temperature"],
        "temperature": _FLAT,
        "dry_multiplier": -weight * _FLAT,
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
