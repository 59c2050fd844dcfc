"""Ways of asking: what is said of servers that tell the truth, and of servers that lie."""

from __future__ import annotations

import json

import pytest
from doubles_chat import BABBLE, ChatDouble
from server_double import DoubleReply, served

from engine.diagnosis.server_probe.canary import CANARY_VALUE
from engine.diagnosis.server_probe.probe import UnknownWayError, probe_server
from engine.diagnosis.server_probe.report import MaskState, WayState
from engine.servers import ServerClient

KINDS = ("vllm", "sglang", "ollama", "openai")


def probed(double, ways=(), **options):
    with served(double) as server, ServerClient(server.address, **options) as client:
        return probe_server(client, ways=ways)


def states(report):
    return {one.name: one.state for one in report.ways}


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_obeys_has_its_mask_on_in_all_ways_from_the_first_token(kind):
    report = probed(ChatDouble(kind))
    offered = {one.state for one in report.ways if one.state is not WayState.NOT_OFFERED}
    assert offered == {WayState.ON}
    assert (report.kind, report.mask, report.from_token) == (kind, MaskState.ON, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_ignores_all_constraints_has_none(kind):
    report = probed(ChatDouble(kind, obeys=lambda _: False))
    assert {one.state for one in report.ways} <= {WayState.OFF, WayState.NOT_OFFERED}
    assert report.mask is MaskState.OFF
    assert "hello" in report.sentence


def test_a_server_that_masks_only_answers_that_are_no_streams_is_found():
    report = probed(ChatDouble(obeys=lambda request: not request.body.get("stream")))
    assert [name for name, state in states(report).items() if state is WayState.OFF] == ["response_format, stream"]
    assert report.mask is MaskState.PARTLY
    assert "stream" in report.sentence


def test_a_model_that_follows_a_schema_in_its_prompt_is_not_taken_for_a_mask():
    report = probed(ChatDouble(shows_schema=True), ["response_format", "tools, required"])
    assert set(states(report).values()) == {WayState.COPY}
    assert report.mask is MaskState.UNKNOWN


def test_a_mask_is_recognised_where_the_server_does_not_count_the_prompt():
    assert probed(ChatDouble(counts_prompt=False)).mask is MaskState.ON


def test_a_model_that_writes_the_canary_by_chance_proves_nothing():
    canary = json.dumps({"a": CANARY_VALUE})
    report = probed(ChatDouble(always=canary, obeys=lambda _: False), ["response_format"])
    assert states(report) == {"response_format": WayState.COPY}
    assert report.mask is MaskState.UNKNOWN


@pytest.mark.parametrize("form", ["channel", "tags"])
def test_thoughts_before_the_mask_are_counted_and_no_fault(form):
    report = probed(ChatDouble(thinks=form))
    by_name = {one.name: one for one in report.ways}
    thinking, plain = by_name["response_format, thinking on"], by_name["response_format, thinking off"]
    assert (thinking.state, thinking.has_thoughts, plain.state, plain.from_token) == (
        WayState.ON,
        True,
        WayState.ON,
        0,
    )
    assert thinking.from_token is not None
    assert thinking.from_token > 5
    assert report.mask is MaskState.ON


def test_a_model_without_thoughts_has_no_switch_for_them():
    found = states(probed(ChatDouble()))
    assert found["response_format, thinking on"] is WayState.NOT_OFFERED


def test_text_before_the_mask_is_a_fault():
    report = probed(ChatDouble(prefix="Sure! "), ["response_format"])
    (way,) = report.ways
    assert (way.state, way.from_token) == (WayState.LATE, 1)
    assert report.mask is MaskState.PARTLY


def test_a_mask_that_begins_late_is_found_behind_the_usual_text():
    usual = "Sure! Here is the word that you have asked me to write: "
    report = probed(ChatDouble(prefix=usual, always=f"{usual}hello"), ["response_format"])
    assert states(report) == {"response_format": WayState.LATE}


def test_a_model_that_speaks_of_errors_by_itself_shows_no_error():
    usual = "You want me to write one word, but that is an error"
    report = probed(ChatDouble(always=usual, obeys=lambda _: False), ["response_format"])
    assert states(report) == {"response_format": WayState.OFF}


def test_a_model_that_begins_another_text_but_has_the_canary_at_the_end_of_its_thoughts_proves_nothing():
    usual = f"<think>{'The user wants a word. ' * 4}</think>" + json.dumps({"a": CANARY_VALUE})
    report = probed(ChatDouble(always=usual, obeys=lambda _: False), ["response_format"])
    assert states(report) == {"response_format": WayState.COPY}


def test_an_error_in_place_of_an_answer_is_not_taken_for_a_missing_mask():
    report = probed(
        lambda request: (
            ChatDouble()(request)
            if request.method == "GET" or "response_format" not in request.body
            else ChatDouble(error_text="Error: the backend xgrammar failed")(request)
        ),
        ["response_format"],
    )
    assert states(report) == {"response_format": WayState.ERROR_TEXT}
    report = probed(
        lambda request: ChatDouble()(request) if request.method == "GET" else {"error": {"message": "out of memory"}},
        ["response_format"],
    )
    assert states(report) == {"response_format": WayState.ERROR_TEXT}
    assert report.mask is MaskState.UNKNOWN


def test_a_refusal_is_no_missing_mask():
    report = probed(ChatDouble(refuses=lambda _: True), ["response_format", "structured_outputs.regex"])
    assert states(report) == {"response_format": WayState.REFUSED, "structured_outputs.regex": WayState.ON}
    assert report.ways[0].text == "The schema is not supported"


def test_fields_of_other_versions_are_not_offered():
    found = states(probed(ChatDouble(version="0.10.2")))
    assert found["structured_outputs.json"] is WayState.NOT_OFFERED
    assert states(probed(ChatDouble()))["guided_json"] is WayState.NOT_OFFERED


def test_a_field_that_a_kind_does_not_have_is_not_asked_for():
    with served(ChatDouble("ollama")) as server, ServerClient(server.address) as client:
        report = probe_server(client)
        assert states(report)["structured_outputs"] is WayState.NOT_OFFERED
        assert not any("structured_outputs" in (one.body or {}) for one in server.requests)


def test_an_answer_that_was_cut_off_is_not_judged():
    def answers(request):
        whole = ChatDouble(obeys=lambda _: False, always="Okay, the user")(request)
        if request.method == "POST":
            whole["choices"][0]["finish_reason"] = "length"
        return whole

    assert states(probed(answers, ["response_format"])) == {"response_format": WayState.CUT_OFF}


def test_a_hot_answer_is_only_asked_for_where_the_prompt_may_show_the_constraint():
    with served(ChatDouble()) as server, ServerClient(server.address) as client:
        probe_server(client, ways=["response_format"])
        assert {one.body["temperature"] for one in server.requests if one.body} == {0}
    assert BABBLE  # what the model of a double writes at a high temperature


def test_an_unknown_way_is_named():
    with pytest.raises(UnknownWayError):
        probed(ChatDouble(), ["guided_jason"])


def test_a_key_that_is_refused_ends_the_check():
    with pytest.raises(Exception, match="401"):
        probed(lambda _: DoubleReply({"error": {"message": "no key"}}, 401))


def test_the_report_grows_and_each_state_of_it_has_a_sentence():
    shown = []
    with served(ChatDouble()) as server, ServerClient(server.address) as client:
        last = probe_server(client, show=shown.append)
    assert len(shown) > len(last.ways) - 5
    assert all(one.sentence for one in shown)
    assert [one.is_complete for one in shown] == [False] * (len(shown) - 1) + [True]
    assert {one["name"] for one in last.as_data()["ways"]} == {one.name for one in last.ways}
