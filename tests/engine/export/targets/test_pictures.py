"""DOT, GraphML, JFLAP, SVG and PNG: what is written is the automaton, and a changed file is found out."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import networkx as nx
import pytest
from catalogue_texts import shows, text_pattern
from error_keys import raises_key
from exports import EMPTY, GRAMMARS, TOKENS, job_of

from engine.compile import compile_grammar
from engine.export import close_objects, to_networkx
from engine.export.graph import drawing as drawings
from engine.export.graph.networks import read_graph
from engine.export.target import Artifact, ExportError, MismatchError
from engine.export.targets import target
from engine.export.targets.jflap import read_jff
from engine.export.targets.png import read_png
from engine.export.writing import make, refusal
from engine.grammar.print_gbnf import print_gbnf
from engine.source import CancelledError, CancelToken, GrammarError, LimitExceededError
from engine.source.catalogue import catalogue_text

NESTED = {"nested", "hidden left recursion", "left by another way", "nested to the left", "tree", "open"}


def changed(artifact: Artifact, before: str, after: str) -> Artifact:
    text = artifact.content.decode()
    assert before in text
    return Artifact(((artifact.files[0][0], text.replace(before, after, 1).encode()),), artifact.notes)


@pytest.mark.parametrize("case", [*GRAMMARS, TOKENS, EMPTY])
@pytest.mark.parametrize("name", ["dot", "graphml"])
def test_a_graph_reads_back_as_the_grammar(name, case):
    job = job_of(case)
    artifact = make(name, job)
    checked = target(name).check(artifact, job)
    assert checked.walks == 40
    assert (shows(checked.scope, "export.scope.tokens")) == (case is TOKENS)
    assert job.compiled.source.text.split("\n")[0][:5] in artifact.content.decode() or name == "graphml"


def test_an_edge_that_changed_is_found():
    job = job_of("heading")
    with raises_key(
        MismatchError,
        "errors.export.checks.other_texts",
        text="b''",
        allowed="the bytes 41-5a",
        given="the bytes 41-59",
    ):
        target("dot").check(changed(make("dot", job), "41-5a", "41-59"), job)
    with raises_key(MismatchError, "errors.export.checks.other_texts"):
        target("graphml").check(changed(make("graphml", job), "61-7a", "61-79"), job)
    with raises_key(MismatchError, "errors.export.networks.other_edges", names="byte"):
        target("graphml").check(changed(make("graphml", job), ">bytes<", ">byte<"), job)
    with raises_key(MismatchError, "errors.export.networks.unreadable"):
        target("graphml").check(changed(make("graphml", job), ">dfa<", ">rules<"), job)
    with raises_key(MismatchError, "errors.export.graphml.unreadable"):
        target("graphml").check(Artifact((("x", b"<graphml>"),)), job)
    with raises_key(MismatchError, "errors.export.networks.no_bytes"):
        target("dot").check(changed(make("dot", job), "41-5a", "4g"), job)


def test_a_state_that_accepts_no_more_is_found():
    job = job_of("nested")
    with pytest.raises(MismatchError):
        target("dot").check(changed(make("dot", job), ", shape=doublecircle", ""), job)


@pytest.mark.parametrize("case", ["heading", "nested", "tree", TOKENS])
def test_networkx_has_the_automata(case):
    compiled = job_of(case).compiled
    graph = to_networkx(compiled)
    automata = read_graph(graph)
    assert graph.is_multigraph()
    assert graph.is_directed()
    if case == "heading":
        assert automata.accepts(b"AB: c\n")
        assert [node for node, start in graph.nodes(data="start") if start] == ["0"]
    else:
        assert graph.graph["kind"] == "rules"
        assert {kind for _, _, kind in graph.edges(data="kind")} <= {"bytes", "call", "token"}
        assert automata.rules[0].name == "root"


def test_graphml_says_where_it_comes_from():
    graph = nx.parse_graphml(make("graphml", job_of("person")).content.decode())
    found = json.loads(graph.graph["provenance"])
    assert found["source"] == GRAMMARS["person"][1]
    assert found["options"]["whitespace"] == "flexible"
    assert found["options"]["spelling"] == "plain"


# JFLAP


@pytest.mark.parametrize("case", [case for case in GRAMMARS if case not in NESTED])
def test_jflap_runs_as_the_grammar(case):
    job = job_of(case, whitespace="compact")
    artifact = make("jflap", job)
    assert target("jflap").check(artifact, job).steps > 0
    root = ET.fromstring(artifact.content)
    assert root.findtext("type") == "fa"
    assert len(root.findall("automaton/state/initial")) == 1
    assert all(len(read.text or "") in (1, 5) for read in root.iter("read"))


@pytest.mark.parametrize("case", sorted(NESTED))
def test_jflap_takes_what_nests_to_a_depth(case):
    nests = catalogue_text("export.refusal.fragment.nests_without_bound")
    assert refusal(target("jflap"), job_of(case)) == (close_objects() if case == "open" else nests)
    with pytest.raises(
        GrammarError, match=rf"{text_pattern('diagnostics.export-recursive.hint')}|--additional closed"
    ):  # with its place in the source
        make("jflap", job_of(case, whitespace="compact"))
    if case == "nested":
        job = job_of(case, depth=2)
        assert target("jflap").check(make("jflap", job), job).steps > 0


def test_jflap_reads_brackets_and_line_ends_as_they_are_meant():
    job = job_of(("regex", "[[\\]\r\n\t< ]x"))
    artifact = make("jflap", job)
    grammar = compile_grammar("gbnf", print_gbnf(read_jff(artifact.content)))
    assert all(grammar.fullmatch(f"{character}x") for character in "[]\r\n\t< ")
    assert not grammar.fullmatch("-x")


def test_jflap_says_what_it_leaves_out():
    assert make("jflap", job_of("beyond ASCII")).notes == (catalogue_text("export.note.fragment.jflap"),)
    job = job_of(("regex", "a\x00"))
    with raises_key(MismatchError, "errors.export.checks.empty_export"):
        target("jflap").check(make("jflap", job), job)


@pytest.mark.parametrize(
    "change", [("<read>:</read>", "<read>;</read>"), ("<final />", ""), ("[A-Z]</read>", "[A-Y]</read>")]
)
def test_a_changed_jflap_file_is_found(change):
    job = job_of("heading")
    with pytest.raises(MismatchError):
        target("jflap").check(changed(make("jflap", job), *change), job)


def test_jflap_has_a_limit():
    with raises_key(LimitExceededError, "errors.limit.jflap_states"):
        make("jflap", job_of(("regex", "a{1200}")))


# SVG and PNG


def test_a_picture_is_drawn_and_counted():
    job = job_of("nested")
    artifact = make("svg", job)
    checked = target("svg").check(artifact, job)
    shown = re.search(text_pattern("export.scope.svg").replace(".*?", r"(\d+)"), checked.sentence)
    assert shown
    text = artifact.content.decode()
    assert 'fill="white"' in text
    assert json.loads(ET.fromstring(text).findtext("{http://www.w3.org/2000/svg}metadata"))["notation"] == "gbnf"
    with raises_key(MismatchError, "errors.export.svg.other_count"):
        target("svg").check(changed(artifact, 'class="node"', 'class="gone"'), job)
    with raises_key(MismatchError, "errors.export.svg.no_xml"):
        target("svg").check(Artifact((("x", artifact.content[:-9]),)), job)


def test_a_png_is_whole():
    job = job_of("heading")
    artifact = make("png", job)
    width, height, rows = read_png(artifact.content)
    assert (width > 400, height > 100, rows) == (True, True, height)
    assert f"It has {width:,} × {height:,} pixels." in target("png").check(artifact, job).sentence
    assert rb'"source": "[A-Z]+: [a-z]+\\n"' in artifact.content
    data = bytearray(artifact.content)
    data[len(data) // 2] ^= 1
    for broken in (bytes(data), artifact.content[:-12], b"GIF"):
        with pytest.raises(MismatchError):
            target("png").check(Artifact((("x", broken),)), job)


def test_what_is_too_large_to_be_seen_is_refused():
    with raises_key(LimitExceededError, "errors.limit.drawn_states", given=601, limit=400):
        make("svg", job_of(("regex", "a{600}")))


def test_graphviz_is_stopped_by_a_cancel():
    cancel = CancelToken()
    cancel.cancel()
    busy = "digraph {" + "".join(f"{a} -> {b};" for a in range(150) for b in range(150) if (a * b) % 7 == 1) + "}"
    with pytest.raises(CancelledError):
        drawings.draw(busy, "svg", cancel)


def test_what_graphviz_cannot_draw_is_an_error():
    with raises_key(ExportError, "errors.export.drawing.failed"):
        drawings.draw("no graph", "svg", CancelToken())
