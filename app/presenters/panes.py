"""The panes of a window and their connections to its session: the only module that knows both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.commands import command
from app.document import AutomatonPart, GrammarPart
from app.panes.automaton import AutomatonPane
from app.panes.automaton.view_state import LIVE_STATE, ViewState
from app.panes.editor import EditorPane
from app.panes.editor.generated import GeneratedPage
from app.panes.generation import GenerationPane
from app.panes.problems import ProblemsPane
from app.session import CompiledGrammarView, Session, view_of
from app.storage import is_small_number
from app.widgets.lazy import Lazy
from app.workers.requests.decode import DecodeView, GoTo, Lookup, Restart, Take, Why
from app.workers.requests.grammar_position import GrammarPosition
from app.workers.requests.judge import CoverAnswer, JudgeAnswer
from engine.automata.rtn.rule_positions import RulePositions
from engine.diagnosis.test_strings.values import Coverage
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.source import Diagnostic, Severity, SourceText, Span

if TYPE_CHECKING:
    from app.panes.editor.explanation import ExplanationPage
    from app.panes.editor.reference import ReferencePage
    from app.panes.probabilities import ProbabilitiesPane
    from app.panes.test_strings import StringTestsPane
    from app.workers.requests.judge import GenerateAnswer

_GENERATION = "generation"  # the page that is open beside the candidates
_TEXT_SIZE = "grammar text size"
_COVERAGE, _OF_GENERATED = "coverage", b"generated"  # what it counts


class Panes(QObject):
    """Creates the panes and connects them; hidden ones when first shown.

    Attributes:
        lazy_tests: the pane of the test strings; also built when there are verdicts.
        lazy_generated: the page with the grammar as GBNF.

    Signals:
        counting_changed(generated): whether the coverage counts generated outputs instead of the test strings.
    """

    counting_changed = Signal(bool)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self.editor = EditorPane()
        self.automaton = AutomatonPane()
        self.generation = GenerationPane()
        self.problems = ProblemsPane()
        self.lazy_probabilities = Lazy(self._make_probabilities)
        self.lazy_tests = Lazy(self._make_tests)
        self.lazy_generated = Lazy(self._make_generated)
        self.generation.add_page(self.lazy_probabilities, ui_text("presenters.probabilities"))
        self._coverage_panes: frozenset[QWidget] = frozenset()  # the panes that show it
        self._coverage: dict[
            bool, tuple[int, Coverage]
        ] = {}  # by the tests and by generated outputs, with the revision
        self._counts_generated = False
        self._live: frozenset[int] = frozenset()
        self._spans: tuple[Span, ...] = ()
        self._highlighted: CompiledGrammarView | None = None  # the automaton that was highlighted last
        self._highlight_timer = QTimer(self, singleShot=True, interval=0)
        self._highlight_timer.timeout.connect(lambda: QTimer.singleShot(0, self, self._highlight))
        self._connect_grammar()
        self._connect_automaton()
        self._connect_generation()
        self._connect_tests()

    @property
    def probabilities(self) -> ProbabilitiesPane:
        """Return the pane with the effect of the mask on the model's distribution."""
        return self.lazy_probabilities.get()

    @property
    def tests(self) -> StringTestsPane:
        """Return the pane of the test strings."""
        return self.lazy_tests.get()

    def _make_probabilities(self) -> ProbabilitiesPane:
        from app.panes.probabilities import ProbabilitiesPane  # start-up time: 2 ms

        pane = ProbabilitiesPane()
        pane.show_position(self._session.decoding.view.position)
        return pane

    def _make_generated(self) -> GeneratedPage:
        session, editor = self._session, self.editor
        compiling, page = session.compiling, GeneratedPage(self.editor.text)
        page.set_notation(session.document.content.grammar.notation)
        page.set_stale(compiling.stale_reason)
        page.wanted.connect(session.converting.watch)
        page.spans_hovered.connect(editor.show_hover)
        page.span_chosen.connect(editor.edit.bring_into_view)
        page.span_entered.connect(editor.go_to)
        editor.pages.shown.connect(lambda shown: page.set_watched(shown is page))
        editor.edit.cursorPositionChanged.connect(lambda: page.show_source_offset(editor.cursor_offset))
        session.converting.generated.connect(self._show_generated)
        session.document.replaced.connect(page.forget)
        session.document.changed.connect(lambda _revision: page.set_notation(session.document.content.grammar.notation))
        compiling.stale_changed.connect(lambda _stale, reason: page.set_stale(reason))
        return page

    def toggle_generated(self) -> None:
        """Show the grammar as GBNF, or hide it."""
        if NOTATIONS[self._session.document.content.grammar.notation].has_named_rules:
            self.editor.edit.show_tip(ui_text("presenters.is_gbnf"))
            return
        self.editor.pages.toggle(self.lazy_generated)
        if self.editor.pages.current is not None:
            self.lazy_generated.get().text.setFocus()
        else:
            self.editor.setFocus()

    def _show_generated(self, answer: GenerateAnswer) -> None:
        drawn, page = self._session.compiling.last_good, self.lazy_generated.get()
        if drawn is not None and drawn.request.revision == answer.revision:
            page.show_answer(answer, drawn.request.text)
            page.show_source_offset(self.editor.cursor_offset)

    def _offer_generated(self) -> None:
        """Hide the page for grammars that are GBNF already."""
        is_other = not NOTATIONS[self._session.document.content.grammar.notation].has_named_rules
        self.editor.pages.set_page_visible(self.lazy_generated, is_other)

    def _make_tests(self) -> StringTestsPane:
        from app.panes.test_strings import StringTestsPane  # start-up time: 3 ms

        session, tests = self._session, StringTestsPane()
        tests.show_texts(session.document.content.test_strings)
        tests.set_stale(session.compiling.stale_reason)
        for signal in (session.document.replaced, session.document.test_strings_changed):
            signal.connect(lambda: tests.show_texts(session.document.content.test_strings))
        session.test_runs.suggested.connect(tests.show_suggestions)
        session.compiling.stale_changed.connect(lambda _stale, reason: tests.set_stale(reason))
        tests.edited.connect(session.test_runs.set_texts)
        tests.watched.connect(partial(self._watch_coverage, tests))
        tests.generated_chosen.connect(self.count_generated)
        tests.count_generated(generated=self._counts_generated)
        tests.suggestions_wanted.connect(session.test_runs.suggest)
        tests.span_wanted.connect(self.editor.go_to)
        return tests

    def _connect_grammar(self) -> None:
        session, document, editor = self._session, self._session.document, self.editor
        editor.text_edited.connect(document.set_text)
        editor.switched.connect(self._switch)
        editor.edit.replaced.connect(self.automaton.expect_new_grammar)
        editor.pages.add_page(self.lazy_generated, ui_text("presenters.as_gbnf"))
        document.changed.connect(lambda _revision: self._offer_generated())
        editor.offset_hovered.connect(self.automaton.highlight_offset)
        document.replaced.connect(self._show_document)
        session.compiling.diagnosed.connect(self._show_diagnostics)
        self.problems.activated.connect(editor.point_to)
        editor.explanation.when_built(self._connect_explanation)
        editor.reference.when_built(self._connect_reference)
        session.compiling.formatted.connect(editor.show_formatted)

    def _switch(self, text: str, reading: GrammarPart) -> None:
        """Change the notation or the options of the text; another notation makes it another grammar."""
        document = self._session.document
        if reading.notation != document.content.grammar.notation:
            self.automaton.expect_new_grammar()
        document.set_grammar(msgspec.structs.replace(reading, text=text))

    def _connect_explanation(self, page: ExplanationPage) -> None:
        compiling = self._session.compiling
        compiling.described.connect(page.show_description)
        compiling.stale_changed.connect(lambda _stale, reason: page.set_stale(reason))
        self._session.document.replaced.connect(page.clear)
        page.set_stale(compiling.stale_reason)
        self.editor.pages.shown.connect(lambda shown: compiling.describe(is_wanted=shown is page))

    def _connect_reference(self, page: ReferencePage) -> None:
        document = self._session.document

        def show() -> None:
            grammar = document.content.grammar
            options = CompileOptions(dialect=grammar.dialect)
            page.show_groups(NOTATIONS[grammar.notation].reference(grammar.text, options))

        document.changed.connect(lambda _revision: show())
        show()

    def _connect_automaton(self) -> None:
        session, automaton = self._session, self.automaton
        session.view_changed.connect(self._show_drawn)
        session.live_changed.connect(self._show_live)
        session.compiling.stale_changed.connect(self._show_stale)
        session.compiling.laid_out.connect(automaton.show_layout)
        automaton.layout_wanted.connect(session.compiling.lay_out)
        automaton.view_changed.connect(lambda view: session.document.set_automaton(_part_of(view)))
        automaton.spans_hovered.connect(self.editor.show_hover)
        automaton.span_wanted.connect(self.editor.go_to)
        automaton.tokens_wanted.connect(session.decoding.queries.list_tokens)
        session.decoding.queries.tokens_listed.connect(automaton.show_tokens)
        session.decoding.running_changed.connect(automaton.set_running)
        for table in (self.generation.candidates.table, self.generation.candidates.ends):
            table.pointed_at.connect(lambda pointed: automaton.show_candidate_path(pointed.token if pointed else None))

    def _connect_generation(self) -> None:
        session, decoding, pane = self._session, self._session.decoding, self.generation
        decoding.view_changed.connect(self._show_view)
        decoding.queries.explained.connect(pane.show_why)
        decoding.queries.found.connect(pane.show_lookup)
        decoding.queries.assessed.connect(lambda answer: pane.show_assessment(answer.verdict))
        decoding.queries.sampled.connect(pane.show_many)
        decoding.queries.sampling_stopped.connect(pane.stop_many)
        decoding.running_changed.connect(pane.set_running)
        decoding.model_opened.connect(lambda: pane.show_banner(""))
        session.step_allowed_changed.connect(lambda _: self._show_refusals())
        self._show_refusals()
        session.activity_changed.connect(self._show_loading)
        session.live_changed.connect(self._name_targets)
        pane.token_taken.connect(lambda token_id: decoding.choose(Take(token_id)))
        pane.why_wanted.connect(lambda token_id: decoding.ask(Why(token_id)))
        pane.lookup_wanted.connect(lambda text: decoding.ask(Lookup(text)))
        pane.node_clicked.connect(lambda node_id: decoding.ask(GoTo(node_id)))
        pane.span_wanted.connect(self.editor.go_to)
        pane.prompt_edited.connect(decoding.set_prompt)
        pane.prompt_drafted.connect(lambda prompt: session.document.draft(prompt=prompt))
        pane.sampler_edited.connect(decoding.set_sampler)
        pane.budget_edited.connect(decoding.set_max_tokens)
        pane.many_wanted.connect(decoding.sample_many)
        pane.many_cancelled.connect(decoding.queries.cancel_sampling)
        pane.seed_opened.connect(self._generate_again)
        pane.loading_cancelled.connect(decoding.cancel_model)

    def _show_refusals(self) -> None:
        """Show why no step, or no output, can be generated now."""
        self.generation.set_refusal(self._session.step_refusal)
        self.generation.set_sampling_refusal(self._session.sampling_refusal)

    def _generate_again(self, seed: int) -> None:
        """Generate the output of a seed from the beginning; the present output stays as a branch."""
        decoding = self._session.decoding
        decoding.set_sampler(replace(self._session.document.content.sampler, seed=seed))
        decoding.ask(Restart())
        self._session.debugging.run_until()

    def _connect_tests(self) -> None:
        self._session.test_runs.judged.connect(self._show_judged)
        self._session.test_runs.covered.connect(self._show_covered)
        self._session.document.replaced.connect(self._forget_coverage)
        self.automaton.coverage_choice.chosen.connect(self.count_generated)
        self.automaton.footer.coverage_button.toggled.connect(partial(self._watch_coverage, self.automaton))

    def _watch_coverage(self, pane: QWidget, is_watched: bool) -> None:
        """Compute coverage while a pane shows it, even without test strings."""
        self._coverage_panes = self._coverage_panes | {pane} if is_watched else self._coverage_panes - {pane}
        self._session.test_runs.watch(bool(self._coverage_panes))

    def _show_judged(self, answer: JudgeAnswer) -> None:
        drawn = self._session.compiling.last_good
        self.tests.show_answer(answer, SourceText(drawn.request.text if drawn is not None else ""))
        if not answer.error:
            if self._coverage.get(True, (answer.revision,))[0] != answer.revision:  # of another grammar
                self.tests.show_generated(Coverage())
            self._take_coverage(answer.revision, answer.coverage, generated=False)

    def _show_covered(self, answer: CoverAnswer) -> None:
        self.tests.show_generated(answer.coverage)
        self._take_coverage(answer.revision, answer.coverage, generated=True)

    def _take_coverage(self, revision: int, coverage: Coverage, *, generated: bool) -> None:
        self._coverage[generated] = revision, coverage
        if generated == self._counts_generated:
            self._mark_coverage()

    def _forget_coverage(self) -> None:
        self._coverage.clear()
        if (tests := self.lazy_tests.built) is not None:
            tests.show_generated(Coverage())

    def _mark_coverage(self) -> None:
        revision, coverage = self._coverage.get(self._counts_generated, (-1, None))
        self.automaton.show_coverage(coverage, revision, generated=self._counts_generated)

    @property
    def counts_generated(self) -> bool:
        """Return whether generated outputs, rather than test strings, count for the coverage."""
        return self._counts_generated

    @command("automaton.coverage_generated", "Ctrl+M, G", place=(3, 6), checked=lambda self: self.counts_generated)
    def _toggle_counted(self) -> None:
        self.count_generated(not self.counts_generated)

    def count_generated(self, generated: bool) -> None:
        """Count generated outputs for the coverage, instead of the test strings, or the reverse."""
        if generated == self._counts_generated:
            return
        self._counts_generated = generated
        self._mark_coverage()
        if (tests := self.lazy_tests.built) is not None:
            tests.count_generated(generated=generated)
        self.counting_changed.emit(generated)

    def save(self) -> dict[str, bytes]:
        """Return what is open in the panes, by name."""
        page = str(self.generation.pages.currentIndex()).encode()
        counted = _OF_GENERATED if self._counts_generated else b""
        size = str(self.editor.edit.text_size).encode()
        own = {_GENERATION: page, _COVERAGE: counted, _TEXT_SIZE: size}
        return {**self.editor.pages.save(), **self.automaton.save(), **own}

    def restore(self, saved: Mapping[str, bytes]) -> None:
        """Open the panes' saved pages."""
        self.editor.pages.restore(saved)
        self.automaton.restore(saved)
        size = saved.get(_TEXT_SIZE, b"").decode(errors="replace")
        self.editor.edit.set_text_size(int(size) if is_small_number(size.removeprefix("-")) else 0)
        self.count_generated(saved.get(_COVERAGE, b"") == _OF_GENERATED)
        page = saved.get(_GENERATION, b"")
        if page in (str(index).encode() for index in range(self.generation.pages.count())):
            self.generation.pages.setCurrentIndex(int(page))

    def _show_document(self) -> None:
        content = self._session.document.content
        self.editor.set_notation(content.grammar.notation)
        self.editor.set_text(content.grammar.text, msgspec.structs.replace(content.grammar, text=""))
        self.automaton.begin(_view_of(content.automaton))
        self._show_view(view_of(content))

    def _show_view(self, view: DecodeView) -> None:
        self.generation.show_view(view)
        self.generation.show_archived(self._session.document.content.archived)
        if self.lazy_probabilities.built is not None:
            self.lazy_probabilities.built.show_position(view.position)
        self.automaton.set_token_context((view.model, view.prompt, view.grammar_revision, view.pipeline))

    def _show_diagnostics(self, diagnostics: Sequence[Diagnostic], source: SourceText) -> None:
        self.editor.show_diagnostics(tuple(diagnostics))
        self.problems.show_diagnostics(tuple(diagnostics), source)
        if self._is_of_other_notation and any(found.severity is Severity.ERROR for found in diagnostics):
            self._clear_compiled()

    @property
    def _is_of_other_notation(self) -> bool:
        """Return whether the last grammar that compiled is in another notation than the text."""
        good = self._session.compiling.last_good
        return good is not None and good.request.notation != self._session.document.content.grammar.notation

    def _clear_compiled(self) -> None:
        """Show no automaton and no explanation, which would be those of a text in another notation."""
        reason = self._session.compiling.stale_reason
        self.automaton.begin(_view_of(self._session.document.content.automaton))
        self._show_stale(bool(reason), reason)
        if (page := self.editor.explanation.built) is not None:
            page.clear()
            page.set_stale(reason)
        if (generated := self.lazy_generated.built) is not None:
            generated.forget()
            generated.set_stale(reason)

    def _show_drawn(self, drawn: CompiledGrammarView) -> None:
        source = SourceText(drawn.request.text)
        folded = drawn.fold, drawn.rules, drawn.regions
        self.automaton.show_dfa(drawn.dfa, drawn.request.revision, None, source, *folded)
        self.automaton.show_too_large(drawn.part_note)
        self.generation.set_source(drawn.request.text)

    def _show_stale(self, is_stale: bool, reason: str) -> None:
        self.automaton.set_stale(is_stale, reason)

    def _show_loading(self, text: str, done: int, total: int | None) -> None:
        self.generation.show_loading(text if self._session.decoding.model_is_loading else "", done, total)

    def _show_live(self, states: frozenset[int], spans: tuple[Span, ...]) -> None:
        """Highlight the live states; after a step, delayed until chips and candidates are painted."""
        self._live, self._spans = states, spans
        if self._session.compiling.last_good is self._highlighted:
            self._highlight_timer.start()
        else:
            self._highlight()

    def _highlight(self) -> None:
        self._highlight_timer.stop()
        self._highlighted = drawn = self._session.compiling.last_good
        states = self._live
        self.editor.show_live(self._spans)
        view = self._session.decoding.view
        output = view.grammar_prefix
        if view.position is not None and output is None:
            self.automaton.set_live((), RulePositions(), b"")  # the grammar does not apply here
            self.automaton.show_stacks(GrammarPosition(b""))
            return
        position = view.grammar_position
        if drawn is None or position is None or drawn.request.revision != view.grammar_revision:
            self.automaton.set_live(states, None, output or b"")  # the worker has not read this grammar yet
            return
        rule_positions = (position.rule_positions or RulePositions()) if states else None
        self.automaton.show_stacks(position)
        self.automaton.set_live(states, rule_positions, position.output)

    def _name_targets(self, states: frozenset[int], _spans: object) -> None:
        drawn = self._session.compiling.last_good
        # Where the rules are drawn, the states of the neighbourhood have no visible number.
        is_numbered = drawn is not None and drawn.rules is None
        self.generation.show_drawn(drawn.dfa if drawn and is_numbered else None, next(iter(states), None))


def _view_of(part: AutomatonPart) -> ViewState:
    """Return a document's view of the automaton as the pane's value."""
    kept = {name: getattr(part, name) for name in AutomatonPart.__struct_fields__ if name != "tokens"}
    return ViewState(**kept, tokens=LIVE_STATE if part.tokens else None)


def _part_of(view: ViewState) -> AutomatonPart:
    """Return the pane's view of the automaton as a document's value."""
    kept = {name: getattr(view, name) for name in AutomatonPart.__struct_fields__ if name != "tokens"}
    return AutomatonPart(**kept, tokens=view.tokens is not None)
