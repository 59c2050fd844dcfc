"""Planted keys: they are removed from every text of a document, and a bundle has none that tokens spell either."""

from __future__ import annotations

import msgspec
import pytest

from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind
from engine.decoding.pipeline_settings import OtherZone, PipelineSettings, ZoneSettings
from engine.decoding.values import ArchivedBranch, Chat, Step, StepOrigin, Trace, TraceNode
from engine.diagnosis.bundle import bundle_parts
from engine.diagnosis.private_texts import without_secrets
from engine.document.content import DocumentFile, ExpectedText, GrammarPart, ModelPart, UnknownField

KEY = "sk-" + "proj-AbC123dEf456GhI789jKl012"
URL = "http://me:abcDEF123456@host/v1"


def step(text: str) -> Step:
    return Step(7, text.encode(), text, 0.5, 0.5, 1.0, 1, False, 7, StepOrigin.SAMPLER, 1)


def planted(*tokens: str) -> DocumentFile:
    nodes = tuple(TraceNode(at, at - 1 if at else None, step(text)) for at, text in enumerate(tokens))
    zones = ZoneSettings(after=f"a {KEY}", others=(OtherZone("regex", KEY, after=f"b {KEY}", until=KEY),))
    return DocumentFile(
        title=KEY,
        grammar=GrammarPart("regex", KEY),
        prompt=Chat((("user", KEY), ("system", URL)), KEY),
        pipeline=PipelineSettings(zones=zones, suppress=(KEY,), bias=((KEY, 1.0),), static="", pattern=""),
        archived=(ArchivedBranch("tiny", KEY, ()),),
        test_strings=(ExpectedText(KEY),),
        sample=f"a line\nwith {KEY}",
        breakpoints=(Breakpoint(BreakpointKind.RULE, "root", label=KEY),),
        unknown=(UnknownField("", "later", msgspec.json.encode({"note": KEY})),),
        trace=Trace(nodes, tuple(range(len(nodes))), len(nodes) - 1 if nodes else None),
    )


def test_a_key_is_removed_from_every_text_of_a_document():
    document = planted()
    clean, count = without_secrets(document)
    assert count == repr(document).count(KEY) + 1
    assert KEY not in repr(clean)
    assert "abcDEF123456" not in repr(clean)
    assert msgspec.json.decode(clean.unknown[0].json).keys() == {"note"}
    assert (clean.prompt.messages[0][0], clean.grammar.notation) == ("user", "regex")
    assert without_secrets(clean) == (clean, 0)


def test_a_document_without_secrets_is_returned_as_it_is():
    document = DocumentFile(title="a", prompt="Write to anna@example.com")
    assert without_secrets(document)[0] is document


def test_triggers_that_differ_in_their_keys_alone_are_left_out():
    zones = ZoneSettings(after=KEY, others=(OtherZone("regex", "a", after=KEY.replace("AbC", "XyZ")),))
    clean, _ = without_secrets(DocumentFile(pipeline=PipelineSettings(zones=zones)))
    assert clean.pipeline == PipelineSettings()


def test_the_name_of_a_model_and_the_tokens_of_a_trace_stay():
    document = msgspec.structs.replace(planted(KEY), model=ModelPart(URL, "m"))
    clean, _ = without_secrets(document)
    assert clean.model == document.model
    assert clean.trace == document.trace


@pytest.mark.parametrize("tokens", [(KEY,), ("sk-", KEY.removeprefix("sk-")), ("a ", KEY[:9], KEY[9:])])
def test_a_bundle_leaves_out_a_trace_whose_tokens_spell_a_key(tokens):
    document = msgspec.structs.replace(planted(*tokens), model=ModelPart(URL, "m"))
    parts = bundle_parts(document, None, None)
    assert parts.left_out.keys() >= {"ids.json", "replay.html"}
    for name, content in parts.files.items():
        assert KEY not in content.decode(), name
        assert "abcDEF123456" not in content.decode(), name
