"""Probes of keywords: their instances are right, the data hold what runs showed, and the lint says the same."""

import json

import jsonschema
import pytest

from engine.compile import compile_grammar
from engine.diagnosis.targets.lint import lint_schema
from engine.peers import PEERS
from engine.peers.adapter import Peer, PeerAbsentError
from engine.peers.keyword_probes import keyword_probes, probe_keywords, target_of
from engine.targets import ENGINES, Effect, engine_record, read_record, with_probed
from tests.engine.peers.peer_doubles import BrokenAdapter, DoubleAdapter, DyingAdapter

PROBES = {probe.case: probe for probe in keyword_probes()}
FORMER = {"exclusiveMinimum of draft 4", "items as a list", "additionalItems after a list", "dependencies of draft 7"}
PROBED = [target for target in ENGINES if engine_record(target).probed]


def text_of(instance):
    return json.dumps(instance, ensure_ascii=False, separators=(",", ":"))


def test_the_names_of_probes_are_different():
    assert len(PROBES) == len(keyword_probes())


@pytest.mark.parametrize(
    "probe", [probe for probe in PROBES.values() if probe.case not in FORMER], ids=lambda probe: probe.case
)
def test_the_instances_of_a_probe_are_right(probe):
    compiled = compile_grammar("json_schema", json.dumps(probe.schema))
    assert all(compiled.fullmatch(text_of(instance)) for instance in probe.valid)
    assert not any(compiled.fullmatch(text_of(instance)) for instance in probe.invalid)
    if probe.keyword != "format" and "\\p" not in probe.schema.get("pattern", ""):
        validator = jsonschema.Draft202012Validator(probe.schema)
        assert all(map(validator.is_valid, probe.valid))
        assert "beside format" in probe.case or not any(map(validator.is_valid, probe.invalid))


def test_four_engines_were_run():
    assert PROBED == ["llama.cpp", "llguidance", "outlines-core", "xgrammar"]
    for target in PROBED:
        assert {row.case for row in engine_record(target).probed} == set(PROBES)
        assert all(row.version and row.date for row in engine_record(target).probed)


@pytest.mark.parametrize(
    ("target", "row"),
    [
        pytest.param(target, row, id=f"{target}: {row.case}")
        for target in PROBED
        for row in engine_record(target).probed
    ],
)
def test_the_lint_says_what_the_run_showed(target, row):
    findings = lint_schema(json.dumps(PROBES[row.case].schema), target)
    effects = {finding.effect for finding in findings}
    if row.effect is Effect.ENFORCES:
        about = {finding.effect for finding in findings if finding.keyword == row.keyword}
        assert not about & {Effect.REFUSES, Effect.DROPS}
    elif row.effect is Effect.REFUSES:
        assert Effect.REFUSES in effects
    else:
        assert effects & {Effect.DROPS, Effect.APPROXIMATES, Effect.SLOWS}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PEERS.names if target_of(name) in PROBED])
def test_an_installed_engine_does_what_the_data_say(name):
    peer = PEERS[name]
    if peer.version is None:
        pytest.skip(f"not installed: {peer.hint}")
    known = {row.case: row for row in engine_record(target_of(name)).probed}
    if peer.version != next(iter(known.values())).version:
        pytest.skip(f"{name} {peer.version} is not the version of the data")
    fast = [PROBES[case] for case, row in known.items() if row.effect is not Effect.SLOWS]
    found = probe_keywords(peer, fast, limit_s=60)
    assert {row.case: row.effect for row in found} == {probe.case: known[probe.case].effect for probe in fast}


def double(adapter):
    return Peer("double", "pytest", adapter)


def test_the_effect_follows_from_the_verdicts():
    probes = [PROBES["minLength with type"], PROBES["properties with other properties"]]
    found = probe_keywords(double(DoubleAdapter), probes, today="2026-01-01")
    assert [(row.effect, row.wrong, row.date) for row in found] == [
        (Effect.DROPS, ('"a"',), "2026-01-01"),
        (Effect.ENFORCES, (), "2026-01-01"),
    ]


@pytest.mark.parametrize("adapter", [BrokenAdapter, DyingAdapter])
def test_an_engine_that_cannot_be_used_is_absent(adapter):
    with pytest.raises(PeerAbsentError) as error:
        probe_keywords(double(adapter), [PROBES["minLength with type"]])
    assert error.value.key == "errors.peers.absent"


def test_rows_are_written_without_a_change_of_the_rest():
    content = '{\n  "engine": "x",\n  "version": "1",\n  "source": "here",\n'
    content += '  "treatments": [\n    {"effect": "drops"}\n  ]\n}\n'
    rows = engine_record("xgrammar").probed
    once = with_probed(content, rows[:2])
    assert once.startswith(content[: content.index("\n}\n")])
    assert read_record(once.encode(), "x").probed == rows[:2]
    assert with_probed(with_probed(content, rows), rows[:2]) == once
