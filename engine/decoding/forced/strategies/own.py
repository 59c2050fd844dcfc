"""The tokenizer's own encoding, which the model has seen, with token healing at both ends of the run.

Without a tokenizer, the longest tokens count as its encoding.
"""

from __future__ import annotations

from engine.decoding.forced.run_strategy import RunPosition, RunStrategy
from engine.decoding.forced.values import FastForwardRun


def _pick(position: RunPosition) -> FastForwardRun:
    from engine.decoding.forced.run_tokens import without_dead_end  # start-up time: numpy
    from engine.decoding.forced.tokenizer_encoding import count_settled, encode_continuation  # start-up time: numpy

    run, taken, vocabulary = position.run, position.taken, position.matcher.vocabulary
    found = encode_continuation(taken, run, vocabulary, position.encode, position.most_taken_back)
    if found is None:
        # The text so far is not the tokenizer's own encoding, or differs from it too far back.
        found = encode_continuation((), run, vocabulary, position.encode, 0)
    if found is None:
        return FastForwardRun(run)
    back, ids = found
    begin = position.matcher.fork()
    begin.rollback(back)
    replaced = b"".join(vocabulary.tokens[token_id] or b"" for token_id in taken[len(taken) - back :])
    kept = without_dead_end(begin, ids[: count_settled(begin, ids, replaced + run)])
    gained = sum(len(vocabulary.tokens[token_id] or b"") for token_id in kept)
    return FastForwardRun(run, back, kept) if gained > len(replaced) else FastForwardRun(run)


STRATEGY = RunStrategy("own", _pick, uses_tokenizer=True)
