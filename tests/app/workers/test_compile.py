import itertools
import json
import pickle
import re
from contextlib import contextmanager

import pytest
from catalogue_texts import shows, text_pattern

from app.catalogue import capitalised, ui_text
from app.graph.match.rules import Unfolding
from app.workers.compile import CompileHandler
from app.workers.grammar_position import PositionReader
from app.workers.requests.compile import CompileRequest, CountStacks, Diagnosed, DrawNfa, UnfoldCalls
from app.workers.requests.export import ExportOptionsMessage, ExportRequest, ListExports
from engine.compile import compile_grammar
from engine.grammar.options import CompileOptions
from engine.source import CancelledError, CancelToken, GrammarError, Limits, Severity, limited_work, work_turns


def request(text, revision=1, options=None):
    return CompileRequest(revision, "regex", text, options or CompileOptions())


def handle(message, handler=None):
    return (handler or CompileHandler()).handle(message, CancelToken(), lambda _value: None)


def at(asked, output):
    """Return the position of an output in the grammar of a request, with all that can be drawn of it."""
    reader = PositionReader(compile_grammar(asked.notation, asked.text, asked.options))
    reader.rule_charts(CancelToken())
    return reader.position(output, CancelToken(), draws_part=True)


def test_a_pattern_becomes_an_automaton_that_crosses_to_the_window():
    answer = handle(request("[A-Z]+: [a-z]+\\n", revision=7))
    assert (answer.revision, answer.diagnostics, answer.too_large) == (7, (), "")
    assert pickle.loads(pickle.dumps(answer)).dfa.accepts(b"AB: c\n")


def test_a_broken_pattern_has_diagnostics_and_no_automaton():
    answer = handle(request("(a"))
    assert answer.dfa is None
    assert answer.diagnostics[0].severity is Severity.ERROR


def test_a_breached_limit_is_a_diagnostic_with_its_numbers():
    answer = handle(request("a" * 100, options=CompileOptions(limits=Limits(source_length=10))))
    assert answer.dfa is None
    assert "100" in answer.diagnostics[0].message


class Checked(CancelToken):
    """A token that counts how often it is checked, and is cancelled at one of these checks."""

    def __init__(self, last=None):
        super().__init__()
        self.checks, self.last = 0, last

    def check(self):
        self.checks += 1
        if self.checks == self.last:
            self.cancel()
        super().check()


PARTS = {f"part{n}": {"properties": {"id": {"minLength": n}, "tags": {"items": {"type": "string"}}}} for n in range(12)}
SCHEMA = json.dumps({"properties": {name: {"$ref": f"#/$defs/{name}"} for name in PARTS}, "$defs": PARTS})


def test_a_compile_can_be_cancelled_in_each_of_its_parts():
    asked, token, ends, turns = CompileRequest(1, "json_schema", SCHEMA, CompileOptions()), Checked(), [], []
    whole = CompileHandler().handle(asked, token, lambda _f: (ends.append(token.checks), turns.append(work_turns())))
    assert 0 < ends[0] < ends[1] < token.checks
    assert turns[1] > 0  # which are counted, and so checked, outside of the parts as well
    handler = CompileHandler()
    for last in (1, ends[0] + 1, ends[1] + 1):
        with pytest.raises(CancelledError):
            handler.handle(asked, Checked(last), lambda _found: None)
    again = handle(asked, handler)
    assert (again.dfa, again.rules) == (whole.dfa, whole.rules)


def test_findings_of_rules_come_before_those_of_their_automaton():
    found = []
    options = CompileOptions(limits=Limits(instructions=20))
    asked = CompileRequest(1, "gbnf", f'root ::= "{"a" * 90}"\nunused ::= "b"', options)
    answer = CompileHandler().handle(asked, CancelToken(), found.append)
    early, late = (one.diagnostics for one in found if isinstance(one, Diagnosed))
    assert [one.code for one in early] == ["gbnf-unreachable-rule"]
    assert late == answer.diagnostics != early


def test_a_text_with_errors_is_not_read_again_to_compile_it(monkeypatch):
    monkeypatch.setattr("app.workers.compile.compile_grammar", None)
    found = []
    asked = CompileRequest(1, "gbnf", 'root ::= "a" (\nother ::= root', CompileOptions())
    answer = CompileHandler().handle(asked, CancelToken(), found.append)
    assert [one.diagnostics for one in found if isinstance(one, Diagnosed)] == [answer.diagnostics]
    with pytest.raises(GrammarError) as refused:
        compile_grammar("gbnf", asked.text, CompileOptions())
    assert answer.diagnostics == refused.value.diagnostics
    assert answer.dfa is None


def test_an_automaton_too_large_to_draw_shows_its_beginning_and_then_any_other_place(monkeypatch):
    monkeypatch.setattr("app.workers.grammar_position.DRAWN_STATES", 20)
    handler = CompileHandler()
    asked = request("(ab|cd){30}")
    answer = handle(asked, handler)
    assert answer.too_large
    assert answer.dfa.boundary
    there = at(asked, b"abcda")
    assert there.dfa.step(there.dfa.start, ord("b")) is not None
    assert there.dfa.step(there.dfa.start, ord("c")) is None


def test_a_drawing_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr("app.workers.grammar_position.DRAWING_WORK", 100)
    assert handle(request("(ab|cd){30}")).too_large == ui_text("workers.compile.size.work")


def test_what_is_drawn_does_not_depend_on_the_clock(monkeypatch):
    clock = itertools.count(0, 10.0)
    for name in ("perf_counter", "monotonic", "thread_time", "process_time"):
        monkeypatch.setattr(f"time.{name}", lambda: next(clock))
    handler = CompileHandler()
    assert not handle(request("[a-z]{1,200}"), handler).too_large
    asked = CompileRequest(1, "json_schema", PERSON, CompileOptions())
    answer = handle(asked, handler)
    assert answer.rules is not None
    assert at(asked, b'{"name": "x').rule_positions is not None


def test_the_work_of_a_drawing_is_the_same_whatever_was_done_before(monkeypatch):
    counted = []

    @contextmanager
    def counting(limit):
        with limited_work("errors.limit.drawing_work", limit):
            yield
            counted.append(work_turns())

    monkeypatch.setattr("app.workers.grammar_position.bounded_work", counting)
    handler = CompileHandler()
    patterns = (r"[a-zé-]{1,30}@(?:[a-z]+\.)+[a-z]{2,6}", '"(?:[^"]|é)*"')
    texts = [request(one) for one in patterns] + [CompileRequest(1, "json_schema", PERSON, CompileOptions())]
    for one in (*texts, *reversed(texts)):
        handle(one, handler)
    assert len(counted) == 6
    assert counted[:3] == counted[:2:-1]


def test_a_cancel_ends_a_compile():
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        CompileHandler().handle(request("[a-z]{500}"), cancel, lambda _value: None)


def test_the_graph_is_previewed_and_written(tmp_path):
    path = tmp_path / "a.dot"
    preview = handle(ExportRequest(request("a+"), "dot"))
    written = handle(ExportRequest(request("a+"), "dot", str(path), number=3))
    assert "digraph" in preview.preview
    assert (preview.checked, written.number) == ("", 3)
    assert shows(written.checked, "export.checked.walks")
    assert path.stat().st_size == written.size == preview.size


def test_a_picture_is_previewed_small_and_a_folder_by_its_files():
    shown = handle(ExportRequest(request("a{60}"), "svg"))
    assert shown.picture.startswith(b"\x89PNG")
    assert int.from_bytes(shown.picture[16:20]) <= 14 * 120 + 2
    assert handle(ExportRequest(request("a{600}"), "png")).error == ui_text(
        "errors.limit.exceeded", what=capitalised(ui_text("errors.limit.drawn_states")), given=601, limit=400
    )
    folder = handle(ExportRequest(request("a+"), "requests", options=ExportOptionsMessage(name="x", model="m")))
    assert [file.path for file in folder.files][:2] == ["README.md", "llama-server.json"]
    assert all(file.text for file in folder.files)


def test_targets_are_listed_with_what_does_not_fit():
    asked = CompileRequest(1, "gbnf", ARITHMETIC, CompileOptions())
    listed = pickle.loads(pickle.dumps(handle(ListExports(asked, ExportOptionsMessage(), has_model=True))))
    found = {entry.name: entry for entry in listed.entries}
    assert found["regex"].refusal == ui_text("export.refusal.fragment.nests_without_bound")
    assert found["vllm"].needs_model
    assert not found["gbnf"].needs_model
    assert {type(entry.group) for entry in listed.entries} == {str}  # else the window would import all targets
    deep = handle(ListExports(asked, ExportOptionsMessage(depth=2), has_model=False))
    assert {entry.name: bool(entry.refusal) for entry in deep.entries}["regex"] is False
    assert all(entry.refusal for entry in deep.entries if entry.name in ("vllm", "transformers"))


def test_an_export_that_cannot_be_written_says_so(tmp_path):
    answer = handle(ExportRequest(request("a+"), "dot", str(tmp_path / "no" / "a.dot")))
    assert "No such file or directory" in answer.error
    reason = ui_text("export.refusal.fragment.already_regex")
    refusal = ui_text("export.writing.fragment.no_fit", target="regex", reason=reason)
    assert handle(ExportRequest(request("a+"), "regex")).error == capitalised(refusal)


def test_an_unknown_request_is_a_bug():
    with pytest.raises(TypeError):
        handle("nonsense")


@pytest.mark.parametrize(
    ("notation", "text", "output", "byte", "size"),
    [
        ("gbnf", 'root ::= "(" root ")" | "a"', b"((a", b")", "workers.compile.size.recursive"),
        ("json_schema", '{"enum": [[[1]]]}', b"[[1", b"]", "common.notation.json_schema"),
    ],
)
def test_a_grammar_without_a_finite_automaton_is_drawn_in_part(notation, text, output, byte, size):
    handler = CompileHandler()
    asked = CompileRequest(1, notation, text, CompileOptions())
    answer = handle(asked, handler)
    assert answer.too_large == ui_text(size)
    assert answer.dfa.step(answer.dfa.start, output[0]) is not None
    there = at(asked, output).dfa
    assert there.step(there.start, byte[0]) is not None
    assert there.states[there.start].spans


def test_a_grammar_that_is_regular_is_drawn_whole():
    answer = handle(CompileRequest(1, "gbnf", 'root ::= "a" tail\ntail ::= "b"*', CompileOptions()))
    assert answer.too_large == ""
    assert answer.dfa.accepts(b"abb")


ARITHMETIC = 'root ::= expr "="\nexpr ::= term ("+" term)*\nterm ::= "a" | "(" expr ")"'


def test_rules_that_nest_are_drawn_each_by_itself_and_followed():
    handler = CompileHandler()
    asked = CompileRequest(1, "gbnf", ARITHMETIC, CompileOptions())
    answer = pickle.loads(pickle.dumps(handle(asked, handler)))
    assert answer.rules.names == ("root", "expr", "term")
    assert answer.rules.combined is not None
    assert answer.rule_positions.reading == {(2, 0)}
    there = pickle.loads(pickle.dumps(at(asked, b"(a")))
    assert {answer.rules.names[rule] for rule, _ in there.rule_positions.reading} == {"expr", "term"}
    assert "subgraph" in handle(ExportRequest(asked, "dot"), handler).preview


@pytest.mark.parametrize(("notation", "text"), [("regex", "a*"), ("gbnf", 'root ::= x\nx ::= "a"')])
def test_without_rules_that_nest_there_are_no_charts(notation, text):
    answer = handle(CompileRequest(1, notation, text, CompileOptions()))
    assert (answer.rules, answer.rule_positions) == (None, None)


def test_an_output_does_not_tell_which_tokens_were_taken_whole():
    answer = handle(CompileRequest(1, "gbnf", 'root ::= "(" root ")" | <think>', CompileOptions()))
    assert answer.rules.names == ("root",)
    assert answer.rule_positions is None


def test_a_regular_grammar_too_large_to_draw_is_drawn_by_its_rules(monkeypatch):
    monkeypatch.setattr("app.workers.grammar_position.MATERIALISE_STATES", 20)
    text = 'root ::= (x y){30}\nx ::= "ab" | "cd"\ny ::= [0-9]'
    answer = handle(CompileRequest(1, "gbnf", text, CompileOptions()))
    assert answer.too_large == ui_text("workers.compile.size.more", limit=20)
    assert answer.rules.names == ("root", "x", "y")


def test_rules_too_large_to_draw_leave_the_surroundings(monkeypatch):
    monkeypatch.setattr("app.workers.grammar_position.DRAWN_STATES", 5)
    handler = CompileHandler()
    asked = CompileRequest(1, "gbnf", ARITHMETIC, CompileOptions())
    answer = handle(asked, handler)
    assert (answer.rules, answer.rule_positions) == (None, None)
    assert answer.why_no_rules == ui_text("workers.compile.fragment.rules_states", limit=5)
    assert answer.dfa.states
    assert at(asked, b"(").rule_positions is None


PERSON = """{"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}, "age": {"type": "number"}},
"required": ["name", "age"], "additionalProperties": false}"""


def test_a_schema_is_drawn_by_its_rules_and_followed_through_its_white_space():
    handler = CompileHandler()
    asked = CompileRequest(1, "json_schema", PERSON, CompileOptions())
    answer = pickle.loads(pickle.dumps(handle(asked, handler)))
    names = answer.rules.names
    assert names[0] == "root"
    assert (answer.too_large, answer.why_no_rules) == (ui_text("common.notation.json_schema"), "")
    assert answer.rules.notes[-1] == ui_text("export.note.fragment.compact")
    assert {names[rule] for rule, _ in answer.rule_positions.reading} == {"root"}

    def live(output):
        return at(asked, output).rule_positions

    assert live(b'{"name"  ') == live(b'{"name"')
    assert live(b'{ "name" : "a b') == live(b'{"name":"a b')
    assert live(b'{"name": "a b') != live(b'{"name": "')
    assert live(b'{"name": "", "age": 1').reading
    assert live(b'{"name": "", "age": 1e').reading == frozenset()  # the drawing has no exponents


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"uniqueItems": true}', text_pattern("diagnostics.export-not-context-free.message", where="/uniqueItems")),
        (
            '{"type": "string", "maxLength": 999, "pattern": "^[a-z]+ [a-z]+$"}',
            text_pattern("diagnostics.export-too-large.message", where=ui_text("export.refusal.fragment.schema")),
        ),
    ],
)
def test_a_schema_without_such_rules_says_why(text, reason, monkeypatch):
    handler = CompileHandler()
    asked = CompileRequest(1, "json_schema", text, CompileOptions())
    answer = handle(asked, handler)
    assert (answer.rules, answer.rule_positions) == (None, None)
    assert re.match(reason, answer.why_no_rules)
    assert answer.dfa.states
    assert at(asked, b'"').rule_positions is None


def test_a_schema_with_rules_too_large_to_draw_says_so(monkeypatch):
    monkeypatch.setattr("app.workers.grammar_position.DRAWN_STATES", 5)
    answer = handle(CompileRequest(1, "json_schema", PERSON, CompileOptions()))
    assert answer.rules is None
    assert answer.why_no_rules == ui_text("workers.compile.fragment.rules_states", limit=5)


def test_a_schema_whose_rules_take_too_long_says_so(monkeypatch):
    monkeypatch.setattr("app.workers.grammar_position.DRAWING_WORK", 100)
    answer = handle(CompileRequest(1, "json_schema", PERSON, CompileOptions()))
    assert answer.rules is None
    assert answer.why_no_rules == ui_text("workers.compile.fragment.rules_work")


def test_a_text_that_too_many_ways_lead_to_has_no_places(monkeypatch):
    monkeypatch.setattr("engine.automata.rtn.rule_tracker.MOST_ITEMS", 12)
    handler = CompileHandler()
    asked = CompileRequest(1, "gbnf", ARITHMETIC, CompileOptions())
    assert handle(asked, handler).rule_positions is not None
    assert at(asked, b"((((a").rule_positions is None
    assert at(asked, b"(").rule_positions is not None


def test_a_large_pattern_comes_with_the_map_of_its_parts():
    answer = handle(request(r"[A-Z]+: [0-9]{0,200}\n"))
    assert answer.regions.names == ("[A-Z]+", ":␣", "[0-9]{0,200}", "\\n", "end")
    assert pickle.loads(pickle.dumps(answer)).regions == answer.regions
    assert handle(request("[A-Z]+: x")).regions is None


def test_a_large_regular_grammar_of_rules_comes_whole_and_by_its_rules():
    handler = CompileHandler()
    asked = CompileRequest(1, "gbnf", 'root ::= "a" b{2,100}\nb ::= [0-9] "x"', CompileOptions())
    answer = handle(asked, handler)
    assert (answer.too_large, answer.regions, answer.rules.names) == ("", None, ("root", "b"))
    assert len(answer.dfa.states) > 100
    told = at(asked, b"a1")
    assert {answer.rules.names[rule] for rule, _ in told.rule_positions.reading} == {"b"}


def counts_of(handler, notation, text, *tokens):
    return handle(CountStacks(CompileRequest(1, notation, text, CompileOptions()), tokens), handler).counts


def test_stacks_are_counted_after_each_token():
    handler, rules = CompileHandler(), 'root ::= a? a? a? "ö" "x"\na ::= [0-9]'
    assert counts_of(handler, "gbnf", rules, b"1") == (3,)
    # A token within a character has the stacks before it, and one without text those of the token before.
    assert counts_of(handler, "gbnf", rules, b"1", b"\xc3", b"\xb6", b"", b"xx") == (3, 3, 1, 1, None)
    assert counts_of(handler, "json_schema", '{"enum": ["ab", "ac"]}', b'"a', b"b") == (2, 1)
    assert counts_of(handler, "regex", "a(?=b)b", b"a") == ()  # llama.cpp has no conditions


def test_calls_are_unfolded_in_the_rules_and_in_the_nondeterministic_ones():
    handler = CompileHandler()
    compiled = CompileRequest(1, "gbnf", 'root ::= "(" item root ")" | "b"\nitem ::= "xy"', CompileOptions())
    charts = handle(compiled, handler).rules
    for is_nfa in (False, True):
        rules = handle(DrawNfa(compiled), handler).charts if is_nfa else charts
        (source, target), called = next((key, rule) for key, (rule,) in rules.rules[0].calls.items() if rule == 1)
        wanted = Unfolding(0, (((0, source, target),),), merges=False)
        found = handle(UnfoldCalls(compiled, wanted, is_nfa), handler)
        assert {one.rule for one in found.inlined} == {called}
        assert len(found.chart.dfa.states) == len(rules.rules[0].dfa.states) + len(rules.rules[1].dfa.states)
        assert not found.too_large
