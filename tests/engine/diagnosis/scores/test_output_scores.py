"""Scores of a pasted output: against brute force under a model, and by the log-probabilities of a response."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from random_model import RandomModel

from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.case import FailureCase, ListedToken, Message, RequestConstraint, ScoredToken, ToolCall
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.scores.output_scores import score_output
from engine.diagnosis.scores.score_texts import score_notes
from engine.diagnosis.scores.token_scores import ScoreOrigin, blank_runs, worst_steps
from engine.source import CancelledError, CancelToken, EngineError
from engine.source.catalogue import catalogue_text
from engine.source.number_format import percent
from engine.vocabulary import Vocabulary

PIECES = [*(bytes((byte,)) for byte in range(0x20, 0x7F)), b"\n", b'{"', b'":', b"}\n", None]
EOS = len(PIECES) - 1
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "integer"}},
        "additionalProperties": False,
    }
)


class LettersModel(RandomModel):
    """A random model that tokenises by the longest token."""

    def __init__(self, context_length=None):
        super().__init__(Vocabulary(PIECES, [EOS], {EOS: "<end>"}), context_length=context_length)

    def encode(self, text):
        ids, data = [], text.encode()
        while data:
            piece = next(data[:size] for size in (2, 1) if data[:size] in PIECES)
            ids.append(PIECES.index(piece))
            data = data[len(piece) :]
        return ids or [0]


class PlannedModel(LettersModel):
    """A model that writes one text, whatever it has read; everything else is a thousand times less probable."""

    def __init__(self, prompt, text):
        super().__init__()
        self._prompt, self._planned = self.encode(prompt), self.encode(text)

    def logits(self, ids):
        at = len(ids) - len(self._prompt)
        logits = np.zeros(len(PIECES), np.float32)
        logits[self._planned[at] if at < len(self._planned) else EOS] = 7.0
        return logits


def case_of(output, **more):
    return FailureCase(constraints=(RequestConstraint("json_schema", SCHEMA),), output=output, **more)


def scored(case, source=None, **more):
    triggers = more.pop("triggers", ())
    found = score_output(case, diagnose(case, triggers=triggers), source, **more)
    assert found is not None
    return found


@pytest.mark.parametrize("lead", [b"", b"thinking</think>"])
def test_p_z_and_rank_are_those_of_brute_force(lead):
    source, body = LettersModel(), b'{"a": 12, "c":3}'
    found = scored(case_of(lead + body), source, prompt="hi", triggers=["</think>"] if lead else ())
    options = CompileOptions(whitespace="any", escapes="any", numbers="any")  # as every diagnosis reads a grammar
    grammar = compile_grammar("json_schema", SCHEMA, options)
    given = source.encode("hi")
    assert b"".join(one.data for one in found.scores) == lead + body
    for one in found.scores:
        logits = source.logits(given).astype(np.float64)
        p = np.exp(logits) / np.exp(logits).sum()
        assert one.p == pytest.approx(p[one.token_id])
        assert one.rank == 1 + sum(logits > logits[one.token_id])
        assert one.wanted_p == pytest.approx(p.max())
        given.append(one.token_id)
        if one.start < len(lead):
            assert one.z is None
            continue
        before = (lead + body)[len(lead) : one.start]
        allowed = [bool(piece) and grammar.automaton.run(grammar.automaton.start, before + piece) for piece in PIECES]
        allowed[EOS] = grammar.fullmatch(before)
        assert one.z_most == one.z
        assert one.z == pytest.approx(p[np.array(allowed, bool)].sum())
        assert one.is_allowed is True


def test_nothing_is_said_about_the_mask_behind_an_illegal_token():
    found = scored(case_of(b'{"x": 1}'), LettersModel())
    assert [one.is_allowed for one in found.scores][:3] == [True, False, None]
    assert [one.z is None for one in found.scores][:3] == [False, False, True]
    assert all(one.logprob is not None for one in found.scores)


def test_the_worst_steps_are_the_least_probable_ones():
    found = scored(case_of(b'{"a": 1, "b": 2}'), LettersModel())
    worst = worst_steps(found.scores, 3)
    assert [one.p for one in worst] == sorted(one.p for one in found.scores)[:3]


def test_the_ids_of_the_response_are_scored_with_their_end():
    ids = (PIECES.index(b"{"), PIECES.index(b"}"), EOS)
    found = scored(case_of(b"{}", ids=ids), LettersModel())
    assert [one.token_id for one in found.scores] == list(ids)
    assert found.scores[-1].is_allowed is True


def test_the_messages_and_the_prefill_of_the_request_are_read_first():
    case = case_of(b'"a": 1}', messages=(Message("user", "hi"),), prefill="{")
    source = LettersModel()
    found = scored(case, source)
    assert source.asked[0] == tuple(source.encode("hi\n{"))
    assert [one.is_allowed for one in found.scores] == [True] * len(found.scores)


def test_tokens_beyond_the_context_are_counted():
    found = scored(case_of(b'{"a": 1}'), LettersModel(context_length=4), prompt="ab")
    assert (len(found.scores), found.left_out) == (3, 3)


def test_an_output_that_the_vocabulary_cannot_encode_is_an_error():
    case = FailureCase(output=b"\xff")
    with pytest.raises(EngineError) as error:
        score_output(case, diagnose(case), LettersModel())
    assert error.value.key == "errors.diagnosis.not_encodable"


def test_scoring_can_be_cancelled():
    cancel = CancelToken()
    case = case_of(b"{}")
    found = diagnose(case)
    cancel.cancel()
    with pytest.raises(CancelledError):
        score_output(case, found, LettersModel(), cancel=cancel)


def test_the_arguments_of_a_tool_call_are_scored():
    tool = RequestConstraint("json_schema", SCHEMA, tool="f", way="tools")
    case = FailureCase(constraints=(tool,), tool_calls=(ToolCall("f", '{"a": 1}'),))
    found = scored(case, LettersModel())
    assert found.text == b'{"a": 1}'
    assert all(one.is_allowed for one in found.scores)


# --- keys


@pytest.mark.parametrize(
    ("output", "planned", "key", "wanted", "is_allowed"),
    [
        (b'{"a": 1}', '{"b": 1}', "a", "b", True),
        (b'{"b": 1, "c": 2}', '{"b": 1, "a": 2}', "c", "a", False),
        (b'{"b": 1}', '{"b": 1, "a": 2}', "", "a", False),
        (b'{"x": 1, "b": 2}', '{"x": 1, "a": 2}', "b", "a", None),
    ],
)
def test_the_key_that_the_model_wanted_is_named(output, planned, key, wanted, is_allowed):
    found = scored(case_of(output), PlannedModel("hi", planned), prompt="hi")
    one = next(choice for choice in found.choices if choice.wanted == wanted)
    assert (one.key, one.is_allowed) == (key, is_allowed)
    # the planned token has e^7 against 1 of each other one
    top = math.exp(7) / (math.exp(7) + len(PIECES) - 1)
    assert output[one.start : one.start + 1] in (b'"', b"}")
    assert top**6 <= one.wanted_p <= top**2
    assert one.p < 0.01


def test_a_model_that_wanted_the_keys_of_the_output_gives_no_choice():
    text = '{"a": 1, "b": 2}'
    assert scored(case_of(text.encode()), PlannedModel("hi", text), prompt="hi").choices == ()


def test_optional_keys_are_lost_where_a_later_one_is_written_or_the_object_ends():
    found = scored(case_of(b'{"b": 1}'), LettersModel())
    assert [(one.key, one.by, one.start) for one in found.lost] == [("a", "b", 1), ("c", "", 7)]


# --- log-probabilities of a response


@pytest.mark.parametrize(("planned", "n_tokens"), [(b'{"a":x', [2]), (b'{"a":  12}', [])])
def test_white_space_is_the_way_out_where_what_the_model_wanted_is_forbidden(planned, n_tokens):
    """It wants a letter after the colon, and two blanks are written in its place."""
    found = scored(case_of(b'{"a":  12}'), PlannedModel("hi", planned.decode()), prompt="hi")
    runs = blank_runs(found.scores)
    assert [run.n_tokens for run in runs] == n_tokens
    assert all(run.score.wanted == b"x" for run in runs)
    key = "diagnosis.scores.blanks"
    notes = score_notes(found)
    expected = [
        catalogue_text(key, where=f"1:{run.score.start + 1}", count=2, wanted="x", wanted_p=percent(run.score.wanted_p))
        for run in runs
    ]
    assert notes[: len(expected)] == expected


def listed(data, p, *others):
    alternatives = tuple(ListedToken(other, math.log(other_p)) for other, other_p in others)
    return ScoredToken(data, math.log(p), None, alternatives)


def test_the_response_gives_bounds_of_the_allowed_mass():
    tokens = (
        listed(b"{", 0.5, (b"{", 0.5), (b"S", 0.25)),
        listed(b"}", 0.1, (b'"', 0.6), (b"x", 0.2)),
        listed(b"</s>", 0.9, (b"</s>", 0.9)),
    )
    found = scored(case_of(b"{}", scores=tokens))
    assert found.origin is ScoreOrigin.RESPONSE
    assert [one.rank for one in found.scores] == [1, None, 1]
    bounds = [(one.z, one.z_most) for one in found.scores]
    assert bounds == [pytest.approx((0.5, 0.75)), pytest.approx((0.7, 0.8)), pytest.approx((0.9, 1.0))]
    assert [one.wanted for one in found.scores] == [b"{", b'"', b"</s>"]


def test_without_a_model_or_log_probabilities_nothing_is_scored():
    case = case_of(b"{}")
    assert score_output(case, diagnose(case)) is None
    assert score_output(FailureCase(), diagnose(FailureCase()), LettersModel()) is None
