"""What a shared page is told of a trace: its numbers, its branches, and why what was refused was refused."""

from __future__ import annotations

import pytest
from random_model import RandomModel

from engine.compile import compile_grammar
from engine.decoding import SamplerSettings
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.session import DecodeSession
from engine.decoding.values import ArchivedBranch, Chat, Step, StepOrigin, TopToken, Trace, TraceNode
from engine.diagnosis.share_page.page_data import build_page_data
from engine.document.content import DocumentFile, GrammarPart, ModelPart
from engine.matching import Matcher
from engine.matching.explanation_text import explain
from engine.source import CancelledError, CancelToken, SourceText
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

SOURCE = "[a-c]{4,8}d"


def session_of(source=SOURCE, **settings):
    return DecodeSession(compile_grammar("regex", source), RandomModel(), **settings)


def steps_of(session, count):
    for _ in range(count):
        session.position()  # a window looks before it steps, and a step keeps what was seen
        session.step()


def work_of(session, source=SOURCE, **more):
    return DocumentFile(grammar=GrammarPart("regex", source), prompt=session.prompt, trace=session.trace, **more)


def told_of(session, **more):
    return build_page_data(work_of(session, **more), session.language, session.model.vocabulary)


@pytest.fixture
def branched():
    """Four steps, of which two were taken back and another way was gone."""
    session = session_of()
    steps_of(session, 4)
    session.go_to(session.trace.path[1])
    other = next(
        one
        for one in session.position().candidates
        if one.allowed and one.token_id != session.trace.nodes[2].step.token_id
    )
    session.take(other.token_id)
    return session


def test_steps_are_told_with_their_numbers(branched):
    document = told_of(branched)
    nodes = branched.trace.nodes
    assert len(document["steps"]) == len(nodes)
    for said, node in zip(document["steps"], nodes, strict=True):
        step = node.step
        assert said["p"] == pytest.approx(step.p)
        assert said["masked"] == pytest.approx(step.p_masked)
        assert said["z"] == pytest.approx(step.z)
        assert (said["allowed"], said["forced"], said["illegal"]) == (step.allowed, step.forced, False)
        assert [one["taken"] for one in said["candidates"]].count(True) == 1
        ranks = [one["rank"] for one in said["candidates"] if one["rank"] is not None]
        assert ranks == list(range(1, len(step.top) + 1))
        kept = {one.token_id: one for one in step.top}
        for one, of in zip(said["candidates"], step.top, strict=False):
            assert one["allowed"] is of.allowed
            assert one["masked"] == pytest.approx(kept[of.token_id].p / step.z if of.allowed else 0.0)


def test_what_is_refused_is_explained_where_it_was(branched):
    """Against a matcher that is put at each place anew."""
    document = told_of(branched)
    grammar, vocabulary = branched.language, branched.model.vocabulary
    nodes = {node.id: node for node in branched.trace.nodes}
    explained = 0
    for said, node in zip(document["steps"], branched.trace.nodes, strict=True):
        path, at = [], node.parent
        while at is not None:
            path.append(nodes[at].step.token_id)
            at = nodes[at].parent
        matcher = Matcher(grammar, vocabulary)
        assert all(matcher.accept(token_id) for token_id in reversed(path))
        for one, of in zip(said["candidates"], node.step.top, strict=False):
            if one["why"] is None:
                assert of.allowed
                continue
            explained += 1
            prose = explain(matcher.explain(of.token_id), SourceText(SOURCE), vocabulary, token_id=of.token_id)
            assert document["reasons"][one["why"]] == prose
    assert explained > 3
    assert len(set(document["reasons"])) == len(document["reasons"])


def test_without_the_vocabulary_texts_are_explained_all_the_same(branched):
    whole = told_of(branched)
    alone = build_page_data(work_of(branched), branched.language, None)
    assert alone["vocabulary"] is None
    for one, other in zip(whole["steps"], alone["steps"], strict=True):
        for said, again in zip(one["candidates"], other["candidates"], strict=True):
            if again["why"] is not None:
                assert alone["reasons"][again["why"]] == whole["reasons"][said["why"]]
            else:
                assert said["why"] is None or said["token"].startswith("<")


def test_nothing_is_explained_without_a_grammar(branched):
    document = build_page_data(work_of(branched), None, None)
    assert document["reasons"] == []
    assert document["branches"][0]["verdict"] == ""
    assert len(document["steps"]) == len(branched.trace.nodes)


def test_branches_come_along(branched):
    archived = ArchivedBranch("another model", Chat((("user", "hi"),), "so"), branched.steps)
    document = told_of(branched, archived=(archived,))
    shown, other, old = document["branches"]
    assert [document["steps"][one]["token"] for one in shown["steps"]] == list(shown["text"])
    assert (shown["name"], shown["at"]) == (catalogue_text("share.branch.shown"), 3)
    assert len(other["steps"]) == 4
    assert other["name"].startswith(catalogue_text("share.branch.after", step=2, text=""))
    assert other["steps"][:2] == shown["steps"][:2]
    assert old["name"] == catalogue_text("share.archived.fragment.prompt", model="another model", prompt="hi so")
    assert [document["steps"][one]["token"] for one in old["steps"]] == list(shown["text"])
    assert "Not complete" in shown["verdict"]


def test_where_it_stands_and_how_it_ended():
    session = session_of("ab")
    steps_of(session, 2)
    document = told_of(session, max_tokens=2)
    assert document["branches"][0]["outcome"] == "good"
    assert document["branches"][0]["verdict"].startswith("Complete")
    session.back()
    assert told_of(session)["branches"][0]["at"] == 1
    assert len(told_of(session)["branches"][0]["steps"]) == 2


def test_a_forced_step_is_against_the_grammar_and_nothing_is_said_behind_it():
    session = session_of()
    steps_of(session, 1)
    wrong = next(one for one in session.position().candidates if not one.allowed and one.token)
    session.force(wrong.token_id)
    steps_of(session, 1)
    first, second, third = told_of(session)["steps"]
    document = told_of(session)
    assert (first["illegal"], second["illegal"], second["forced"]) == (False, True, False)
    assert "is not allowed here" in document["reasons"][second["why"]]
    assert second["by"] == catalogue_text("share.fragment.origin.forced_by_user")
    assert all(one["why"] is None for one in third["candidates"])
    assert document["branches"][0]["outcome"] == "bad"


def test_what_another_stage_removed_is_not_laid_at_the_grammars_door():
    session = session_of("[a-zA-Z: ]+", pipeline=PipelineSettings(suppress=("e", "A", "q", "Z", "i")))
    steps_of(session, 8)
    document = build_page_data(work_of(session, pipeline=session.pipeline), session.language, session.model.vocabulary)
    refused = [one for step in document["steps"] for one in step["candidates"] if not one["allowed"]]
    said = {document["reasons"][one["why"]] for one in refused if one["token"] in "eAqZi"}
    assert said
    assert said <= {catalogue_text("share.removed", token=f"`{token}`") for token in "eAqZi"}
    names = catalogue_text("generation.field.suppress").lower()
    assert catalogue_text("share.fragment.processors", names=names) in document["facts"]


def test_an_empty_trace_is_the_grammar_alone():
    document = build_page_data(DocumentFile(grammar=GrammarPart("gbnf", 'root ::= "a"')), None, None)
    assert document["steps"] == []
    assert [branch["steps"] for branch in document["branches"]] == [[]]
    assert document["title"] == catalogue_text("share.title")


def test_facts():
    sampler = SamplerSettings(temperature=0.5, top_k=4, top_p=0.9, min_p=0.1, repetition_penalty=1.2, seed=3)
    work = DocumentFile(
        grammar=GrammarPart("json_schema", "{}"), model=ModelPart("records"), sampler=sampler, max_tokens=1
    )
    assert build_page_data(work, None, None)["facts"] == [
        catalogue_text(
            "share.fragment.white_space", notation=catalogue_text("common.notation.json_schema"), whitespace="flexible"
        ),
        "model records",
        "temperature 0.5, top-k 4, top-p 0.9, min-p 0.1, repetition penalty 1.2, seed 3",
        "at most 1 token",
    ]
    assert build_page_data(DocumentFile(sampler=SamplerSettings(temperature=0)), None, None)["facts"][1] == "greedy"


def test_ends_without_a_vocabulary():
    """An id without text that was allowed is an end; of one that never was, nothing is claimed."""
    top = (TopToken(7, None, "<end>", 0.5, allowed=True), TopToken(8, None, "<tool>", 0.2, allowed=False))
    steps = [
        Step(1, b"a", "", 0.3, 1.0, 0.3, 1, forced=True, wanted_id=7, origin="sampler", configuration=1, top=top[1:]),
        Step(7, None, "<end>", 0.5, 1.0, 0.5, 1, forced=True, wanted_id=7, origin="sampler", configuration=1, top=top),
    ]
    trace = Trace((TraceNode(0, None, steps[0]), TraceNode(1, 0, steps[1])), (0, 1), 1)
    work = DocumentFile(grammar=GrammarPart("regex", "a"), trace=trace)
    document = build_page_data(work, compile_grammar("regex", "a"), None)
    assert [one["why"] for step in document["steps"] for one in step["candidates"]] == [None] * 4
    assert document["branches"][0]["outcome"] == "good"


@pytest.mark.parametrize("token_id", [-1, 10**15])
def test_ids_that_no_tokenizer_has_cost_nothing(token_id):
    step = Step(
        token_id,
        b"a",
        "",
        0.3,
        1.0,
        0.3,
        1,
        forced=False,
        wanted_id=0,
        origin=StepOrigin.FORCED_BY_USER,
        configuration=1,
    )
    work = DocumentFile(grammar=GrammarPart("regex", "a"), trace=Trace((TraceNode(0, None, step),), (0,), 0))
    for vocabulary in (None, Vocabulary([b"a"], ())):
        (said,) = build_page_data(work, compile_grammar("regex", "a"), vocabulary)["steps"]
        assert said["illegal"]


def test_it_can_be_cancelled(branched):
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        build_page_data(work_of(branched), branched.language, None, cancel)
