"""Tokens that servers recorded: their ids and bytes, where they are in the output, and what follows for Z."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from engine.diagnosis.case import FailureCase, ListedToken, RequestConstraint, ScoredToken
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.intake import PastedText, TextKind, read_failure
from engine.diagnosis.scores.output_scores import score_output
from engine.diagnosis.scores.recorded_tokens import OtherVocabularyError, recorded_tokens, starts_in
from engine.diagnosis.scores.score_texts import score_notes
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

RESPONSES = Path(__file__).parents[3] / "data" / "responses"
TOKENS = [b" ", b"1", b"2", b"x", b"[", b"]", b"a", None]
VOCABULARY = Vocabulary(TOKENS, [7], {7: "<end>"})
LOGPROBS = [-0.25, -0.5, -2.0, -0.125, -0.0625]
IDS = [4, 1, 2, 5, 7]
ARRAY = RequestConstraint("regex", r"\[[0-9]+\]")


def case_of(name):
    return read_failure([PastedText((RESPONSES / f"{name}.json").read_bytes(), TextKind.RESPONSE)])


WITH_IDS = ("vllm-chat", "vllm-completion", "sglang-generate")
WITH_BYTES = ("openai-chat", "openai-responses")


@pytest.mark.parametrize("name", WITH_IDS)
def test_ids_are_exact_and_have_the_bytes_of_the_vocabulary(name):
    case = case_of(name)
    tokens = recorded_tokens(case, VOCABULARY)
    assert [one.token_id for one in tokens] == IDS
    assert [one.data for one in tokens] == [b"[", b"1", b"2", b"]", b""]
    assert [one.logprob for one in tokens] == LOGPROBS
    assert tokens[0].alternatives == (ListedToken(b"[", -0.25, 4), ListedToken(b"a", -1.75, 6))
    assert tokens[2].alternatives[0] == ListedToken(b"]", -0.25, 5)


def test_a_token_below_the_listed_ones_has_no_probability():
    for name in ("vllm-chat", "vllm-completion"):
        assert [one.logprob for one in case_of(name).scores[1].alternatives] == [-0.5]


def test_the_ids_of_the_prompt_are_read():
    assert case_of("vllm-chat").prompt_ids == case_of("vllm-completion").prompt_ids == (3, 0)
    for body in ({"prompt": [3, 0], "n_predict": 1}, {"input_ids": [3, 0], "sampling_params": {}}):
        assert read_failure([json.dumps(body)]).prompt_ids == (3, 0)


@pytest.mark.parametrize("name", WITH_BYTES)
def test_bytes_name_a_token_where_one_alone_has_them(name):
    case = case_of(name)
    assert [one.token_id for one in recorded_tokens(case, VOCABULARY)] == IDS[:4]
    twice = Vocabulary([*TOKENS, b"1"], [7], {7: "<end>"})
    assert [one.token_id for one in recorded_tokens(case, twice)] == [4, None, 2, 5]
    assert [one.token_id for one in recorded_tokens(case)] == [None] * 4


def test_an_incomplete_character_names_no_token():
    torn = Vocabulary([b"\xc3", "\ufffd".encode(), b"\xa9"], [])
    scores = (ScoredToken("\ufffd".encode(), -1.0), ScoredToken("\ufffd".encode(), -1.0, 2))
    tokens = recorded_tokens(FailureCase(scores=scores), torn)
    assert [(one.token_id, one.data) for one in tokens] == [(None, "\ufffd".encode()), (2, b"\xa9")]


def test_another_vocabulary_is_an_error_with_the_token():
    case = case_of("openai-chat")
    case = replace(case, scores=tuple(replace(one, token_id=IDS[at]) for at, one in enumerate(case.scores)))
    other = Vocabulary([b" ", b"2", b"1", b"x", b"[", b"]", b"a"], [])
    with pytest.raises(OtherVocabularyError) as error:
        recorded_tokens(case, other)
    assert (error.value.key, error.value.fields["position"]) == ("errors.diagnosis.other_vocabulary", 2)
    with pytest.raises(OtherVocabularyError) as error:
        recorded_tokens(case_of("vllm-chat"), Vocabulary([b"a"], []))
    assert error.value.key == "errors.diagnosis.id_outside"


def test_a_dropped_leading_blank_is_the_same_token():
    words = Vocabulary([b" a", b"b"], [])
    scores = (ScoredToken(b"a", -1.0, 0), ScoredToken(b"b", -1.0, 1))
    assert [one.data for one in recorded_tokens(FailureCase(scores=scores), words)] == [b" a", b"b"]


def test_ids_alone_are_tokens_without_probabilities():
    tokens = recorded_tokens(FailureCase(output=b"[", ids=(4, 7)), VOCABULARY)
    assert tokens == (ScoredToken(b"[", None, 4), ScoredToken(b"", None, 7))
    assert recorded_tokens(FailureCase(output=b"[")) == ()


def test_an_end_token_without_a_log_probability_is_kept():
    case = FailureCase(output=b"[", ids=(4, 7), scores=(ScoredToken(b"[", -1.0),))
    assert [one.token_id for one in recorded_tokens(case, VOCABULARY)] == [4, 7]
    unequal = replace(case, ids=(4, 1, 2))
    assert [one.token_id for one in recorded_tokens(unequal)] == [None]


# --- where tokens are


@pytest.mark.parametrize(
    ("pieces", "text", "starts"),
    [
        ([b"ab", b"c"], b"abc", [0, 2]),
        ([b"ab", b"c", b"", b""], b"abc", [0, 2, 3, None]),
        ([b"so", b"</think>", b"ab", b"c"], b"abc", [None, None, 0, 2]),
        ([b"a", b"?", b"?", b"b", b"<end>"], b"a\xc3\xa9b", [0, None, None, 3, 4]),
        ([b"x"], b"abc", [None]),
        ([b"a", b"b"], b"abc", [0, 1]),
        ([], b"abc", []),
        ([b"a"], b"", [0]),
    ],
)
def test_the_output_says_where_tokens_are(pieces, text, starts):
    assert starts_in([ScoredToken(one) for one in pieces], text) == starts


def scored(case, **more):
    case = replace(case, constraints=(ARRAY,))
    found = score_output(case, diagnose(case), **more)
    assert found is not None
    return found


def test_an_unknown_text_makes_no_statement_about_the_mask():
    """The states behind it would be those of another text."""
    case = replace(case_of("vllm-completion"), server="")
    assert [one.z for one in scored(case).scores] == [None] * 5
    known = scored(case, vocabulary=VOCABULARY).scores
    assert [one.start for one in known] == [0, 1, 2, 3, 4]
    assert known[0].z == pytest.approx(math.exp(-0.25))
    assert known[0].z_most == pytest.approx(1 - math.exp(-1.75))


def test_behind_the_mask_the_allowed_mass_is_unknown():
    """vLLM's and SGLang's log-probabilities are behind it, unless a forbidden token is among them."""
    case = case_of("vllm-chat")
    first, *others = recorded_tokens(case, VOCABULARY)
    behind = replace(case, scores=(replace(first, alternatives=first.alternatives[:1]), *others))
    found = scored(behind, vocabulary=VOCABULARY)
    assert (found.is_masked, {one.z for one in found.scores}) == (True, {None})
    assert not scored(replace(behind, server="llama.cpp"), vocabulary=VOCABULARY).is_masked
    assert not scored(case, vocabulary=VOCABULARY).is_masked
    sampled = replace(case, server="llama.cpp", are_sampled=True)
    assert scored(sampled, vocabulary=VOCABULARY).is_masked


def test_the_scores_of_another_vocabulary_are_those_of_the_response():
    found = scored(case_of("vllm-chat"), vocabulary=Vocabulary([b"a"], []))
    assert [one.logprob for one in found.scores] == LOGPROBS


def test_scores_from_behind_the_mask_say_so():
    case = replace(case_of("openai-chat"), are_sampled=True)
    assert catalogue_text("diagnosis.scores.masked") in score_notes(scored(case))
    assert catalogue_text("diagnosis.scores.masked") not in score_notes(scored(case_of("openai-chat")))
