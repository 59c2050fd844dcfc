"""The bundled failures: each is found again, in time, and is in the manual."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib.resources import files

import pytest

from app.document.failure_samples import FailureSample, failure_samples
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.verdicts.replay import TokenSource
from engine.vocabulary import Vocabulary

SAMPLES = failure_samples()
SECONDS = 2
LETTERS = TokenSource(Vocabulary([bytes([byte]) for byte in range(0x41, 0x7B)], eos_ids=[]))


def named(sample: FailureSample) -> str:
    return sample.title


def test_there_are_twenty():
    assert len({sample.title for sample in SAMPLES}) == 20
    assert len({sample.cause for sample in SAMPLES}) >= 15


@pytest.mark.parametrize("source", [None, LETTERS], ids=["without a model", "with a model of few tokens"])
@pytest.mark.parametrize("sample", SAMPLES, ids=named)
def test_each_has_its_cause_in_time(sample: FailureSample, source: TokenSource | None):
    start = time.process_time()
    found = diagnose(sample.case(), token_source=source)
    assert time.process_time() - start <= SECONDS
    assert found.cause is sample.cause
    assert found.sentence
    assert found.fix


@pytest.mark.parametrize("sample", SAMPLES, ids=named)
def test_each_is_in_the_manual_with_its_threads(sample: FailureSample):
    page = (files("resources") / "manual" / "failures.md").read_text("utf-8")
    assert f"| {sample.title} | `{sample.cause}` | {', '.join(sample.threads)} |" in page


@pytest.mark.parametrize("sample", SAMPLES, ids=named)
def test_each_opens_as_a_document_with_its_grammar(sample: FailureSample):
    document = sample.document("records")
    assert (document.grammar.notation, document.grammar.text) == (sample.notation, sample.grammar)
    assert document.title == sample.title


def test_the_token_boundary_is_shown_by_the_tokens_of_the_response_alone():
    (sample,) = [one for one in SAMPLES if one.cause == "token-boundary"]
    case = sample.case()
    assert (case.output, [token.data for token in case.scores]) == (b" angry", [b" angry"])
    found = diagnose(case)
    assert found.detail == "leading-space"
    assert len(found.evidence) >= 2
    without = diagnose(replace(case, scores=()))
    assert (without.detail, len(without.evidence)) == (found.detail, len(found.evidence) - 2)
