"""What is shared of a `.turnstile` file."""

from __future__ import annotations

import json

import pytest

from app.document import file
from app.document.file import DocumentFile, GrammarPart, ModelPart, encode
from engine.decoding.values import ArchivedBranch, Chat, Step, Trace, TraceNode
from engine.document.shared_work import VERSION, read_work
from engine.source import EngineError

STEP = Step(1, b"a", "", 0.5, 1.0, 0.5, 2, forced=False, wanted_id=1, chosen_by="sampler", configuration=1)


def saved(**changes):
    trace = Trace((TraceNode(0, None, STEP), TraceNode(1, 0, STEP)), (0, 1), 1)
    document = DocumentFile(
        title="T",
        grammar=GrammarPart("regex", "a+", "ecma"),
        model=ModelPart("records", "Records"),
        prompt=Chat((("user", "hi"),)),
        trace=trace,
        former=(ArchivedBranch("m", "p", (STEP,)),),
    )
    return json.dumps(json.loads(encode(document)) | changes).encode()


def test_a_document_of_the_window():
    work = read_work(saved(), "a.turnstile")
    assert (work.title, work.grammar.text, work.grammar.dialect, work.model.name) == ("T", "a+", "ecma", "Records")
    assert work.prompt == Chat((("user", "hi"),))
    assert [node.step for node in work.trace.nodes] == [STEP, STEP]
    assert work.former[0].steps == (STEP,)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"not json", "no Turnstile document that can be read"),
        (b"[1]", "no Turnstile document that can be read"),
        (b"{}", "is JSON, but no Turnstile document"),
        (saved(format="other"), "is JSON, but no Turnstile document"),
        (saved(version=VERSION + 1), "is of a later Turnstile"),
        (saved(grammar={"notation": "cobol"}), "Invalid enum value 'cobol'"),
        (saved(max_tokens="many"), "max_tokens"),
        (saved(trace={"nodes": [], "path": [4]}), "the path of the trace breaks at step 4"),
        (
            saved(trace={"nodes": [{"id": 1, "parent": 0, "step": json.loads(saved())["trace"]["nodes"][0]["step"]}]}),
            "no place",
        ),
        (saved(trace={"current": 3}), "stands at step 3"),
    ],
)
def test_what_is_no_document_is_told(data, told):
    with pytest.raises(EngineError, match=told) as error:
        read_work(data, "a.turnstile")
    assert str(error.value).startswith("a.turnstile is ")


def test_the_form_is_the_one_that_the_window_writes():
    assert file.VERSION == VERSION
