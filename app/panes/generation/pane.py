"""The generation pane.

Data goes in by `show_…` and `set_…` methods; what the user requests comes out by signals. The pane knows neither a
session nor a worker, so a test can construct any of its states.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.commands import command
from app.display_text import candidate_text
from app.panes.generation.baseline_page import BaselinePage
from app.panes.generation.candidate_table import CandidateTable
from app.panes.generation.headline import Headline, PriceLine
from app.panes.generation.output import OutputBox, OutputSplitter
from app.panes.generation.processors_button import Processors
from app.panes.generation.prompt_box import PromptBox
from app.panes.generation.run_until_popover import RunUntilPopover
from app.panes.generation.sampler_popover import BudgetField, SamplerButton
from app.panes.generation.text_page import TextPage
from app.panes.generation.why_panel import WhyPanel
from app.theme.labels import Label
from app.widgets.banner import Banner, BannerSeverity, Loading
from app.widgets.keyboard import CloseOnEscape, delegate_focus
from app.widgets.lazy import Built, Lazy, LazyTabs
from app.workers.requests.decode import DecodeView, LookupAnswer, ManyAnswer, WhyAnswer
from engine.decoding.debugging.run_until import Goal, RunUntil
from engine.decoding.values import ArchivedBranch, Candidate, Finish, SampleOutcome
from engine.diagnosis.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from app.panes.generation.compare_popover import ComparePopover
    from app.panes.generation.many_seeds import ManySeedsPage
    from app.panes.generation.prompt_words import PromptWordsPage
    from engine.automata.dfa.dfa import ByteDfa

_CANDIDATES_BESIDE_WHY = 10


class GenerationPane(QFrame):
    """Shows a generation and requests its next step.

    Signals:
        token_taken(token id): take this token.
        why_wanted(token id): explain this token.
        node_clicked(step id): go to right after this step.
        lookup_wanted(text): search the whole vocabulary.
        text_explained(WhyAnswer): the user asked why a text of several tokens may come next or not.
        prompt_drafted(prompt): a prompt is being typed and is not in force yet.
        prompt_edited(prompt): start again with this prompt.
        secrets_removed(int): so many were removed from what was pasted into the prompt.
        sampler_edited(SamplerSettings): draw with these settings.
        budget_edited(max tokens): change the budget.
        many_wanted(count), many_cancelled: generate outputs of many seeds; stop that.
        outcome_opened(SampleOutcome): generate an output of many seeds again, as the trace.
        heat_wanted(): show where the outputs of many seeds lost mass.
        loading_cancelled: cancel loading the model.
        token_forced(token id): take this token regardless of the grammar.
        until_wanted(RunUntil): run until this goal.
        colours_chosen(what): colour the chips by this value.
        baseline_wanted, baseline_cancelled: generate the unconstrained baseline; stop that.
        words_cancelled: stop finding out which words of the prompt make the model want a token.
        span_wanted(Span): show this span of the grammar.
        engines_wanted: list the installed engines.
        engines_chosen(engines): compare the masks with those of these engines.
    """

    many_wanted = Signal(int)
    many_cancelled = Signal()
    outcome_opened = Signal(SampleOutcome)
    heat_wanted = Signal()
    until_wanted = Signal(RunUntil)
    baseline_wanted = Signal()
    baseline_cancelled = Signal()
    words_cancelled = Signal()
    engines_wanted = Signal()
    engines_chosen = Signal(tuple)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._view = DecodeView()
        self._source = ""
        self._refusal = ""
        self._sampling_refusal = ""
        self._shows_note = self._is_running = False
        self._run_end = ""  # why the last run stopped, while the banner shows it
        self._drawn: ByteDfa | None = None
        self._live: int | None = None
        self.processors = Processors(self)
        self.sampler = SamplerButton()
        self.budget = BudgetField()
        self.banner = Banner("error", closable=True)
        self.loading = Loading()
        self.prompt = PromptBox()
        self.output = OutputBox()
        self.headline = Headline()
        self.price = PriceLine()
        self.candidates = CandidateTable()
        self.why = WhyPanel()
        self.lazy_many = Lazy(self._make_many)
        self.lazy_baseline = Lazy(self._make_baseline)
        self.lazy_words = Lazy(self._make_words)
        self.lazy_text = Lazy(self._make_text)
        self.lazy_run_until = Lazy(self._make_run_until)
        self.lazy_compare = Lazy(self._make_compare)
        self.pages = LazyTabs()
        self._build()
        self._connect()
        delegate_focus(self, self.candidates.table)
        self.candidates.show_position(None)
        self.set_refusal(_reason_without_position(self._view))
        self.show_view(self._view)

    def show_view(self, view: DecodeView) -> None:
        """Show the state of a session."""
        moved = view.position != self._view.position
        self._view = view
        self.output.show_view(view)
        self._division.fit()
        self.sampler.show_settings(view.sampler)
        self.budget.show_budget(view.max_tokens)
        self.processors.show_view(view)
        if not view.error:  # a prompt that was refused stays, to be corrected
            self.prompt.show_prompt(view.prompt, view.prompt_tokens)
        self.prompt.set_can_chat(view.model is not None and view.model.has_chat)
        if self.lazy_many.built is not None:
            self.lazy_many.built.show_settings(_settings_of(view))
        self._show_headline()
        if moved:
            if self._is_running:
                self.why.mark_past()  # a run does not remove what the user reads
            else:
                self.why.hide()
            if self.lazy_baseline.built is not None:
                self.lazy_baseline.built.set_stale()
            self._name_states()
            self.candidates.show_position(view.position)
        if view.error or view.model is None:
            self.stop_many(ui_text("session.lost.failed"))
        self._show_note(view)

    def show_archived(self, archived: tuple[ArchivedBranch, ...]) -> None:
        """Offer the archived outputs of earlier prompts and models."""
        self.output.show_archived(archived)
        self._division.fit()

    def show_drawn(self, drawn: ByteDfa | None, live: int | None) -> None:
        """Name the target states of candidates by the drawn automaton.

        Args:
            drawn: the automaton; None if none is drawn.
            live: the current state; None if it is not drawn.
        """
        self._drawn, self._live = drawn, live
        self._name_states()
        self._show_headline()

    def show_why(self, answer: WhyAnswer, *, is_searching: bool = False) -> None:
        """Open *Why not?* below the candidates.

        Args:
            answer: the verdict on a token.
            is_searching: whether `WhyPanel.show_refusal` will be called with what refuses it.
        """
        self.pages.setCurrentIndex(0)
        position = self._view.position
        is_past = answer.index is not None and position is not None and position.index != answer.index
        token_id = None if is_past else answer.token_id
        candidate = None if token_id is None else self.candidates.candidate(token_id)
        self.why.show_answer(answer, candidate, self._source, is_past=is_past, is_searching=is_searching)

    def show_assessment(self, verdict: Verdict) -> None:
        """Show how far the end is from the current position, or why the output ended."""
        self.headline.show_assessment(verdict)

    def show_lookup(self, answer: LookupAnswer) -> None:
        """Show the result of a search."""
        self.candidates.show_found(answer)

    def show_many(self, answer: ManyAnswer) -> None:
        """Show the outcomes of many seeds so far."""
        self.many.show_answer(answer)

    def stop_many(self, why: str) -> None:
        """Report that no more outcomes will come, and keep those so far."""
        if self.lazy_many.built is not None:
            self.lazy_many.built.stop(why)

    def show_banner(
        self,
        what: str,
        why: str = "",
        *,
        severity: BannerSeverity = "error",
        button: str = "",
        action: Callable[[], object] | None = None,
    ) -> None:
        """Show a banner.

        Args:
            what: what failed; an empty text closes the banner.
            why: the reason.
            severity: how severe it is.
            button: the text of a button that offers a remedy; empty for none.
            action: called when the button is pressed.
        """
        self._shows_note, self._run_end = False, ""
        self.banner.show_message(what, why, severity=severity, button=button, action=action)

    def show_stop(self, why: str) -> None:
        """Show why something was not done, until the next step."""
        if not self.banner.has_action:
            self._shows_note, self._run_end = True, ""
            self.banner.show_message(why, severity="hint")

    def show_run_end(self, why: str) -> None:
        """Show why a run stopped, until another message replaces it; an empty `why` removes it.

        It stays while further views arrive, since the request that stopped the run answers with one.
        """
        if self.banner.has_action:
            return
        if why or self._run_end:
            self._shows_note = False
            self.banner.show_message(why, severity="hint")
        self._run_end = why

    def show_loading(self, stage: str, done: int = 0, total: int | None = None) -> None:
        """Show the progress of loading a model.

        Args:
            stage: the current stage; empty if the model is loaded.
            done: how much of the stage is done.
            total: how much there is to do; None if that is not known.
        """
        self.loading.show_progress(stage, done, total)

    def set_source(self, text: str) -> None:
        """Set the text of the grammar in force, for excerpts."""
        self._source = text

    def set_refusal(self, reason: str) -> None:
        """Show why no step is possible, and disable what would take one; empty if one is possible."""
        self._refusal = reason
        self.headline.set_refusal(reason)
        self.candidates.set_can_take(not reason)
        position = self._view.position
        at_dead_end = position is not None and position.finish is Finish.DEAD_END
        self.candidates.set_can_force(not reason or at_dead_end)
        if position is None:
            self.headline.show_text(reason or _reason_without_position(self._view))

    def set_sampling_refusal(self, reason: str) -> None:
        """Set why no outputs can be generated from the prompt; empty if they can."""
        self._sampling_refusal = reason
        for page in (self.lazy_baseline, self.lazy_many):
            if page.built is not None:
                page.built.set_refusal(reason)

    def set_running(self, is_running: bool) -> None:
        """Set whether a run is active."""
        self._is_running = is_running

    @command("run.why", "F1", place=(5, 1), icon="ph.question")
    def explain_selected(self) -> None:
        """Ask about the selected candidate, or about the model's favourite token."""
        chosen = self.candidates.chosen()
        position = self._view.position
        if chosen is None and position is not None:
            chosen = position.wanted
        if chosen is not None:
            self.why_wanted.emit(chosen.token_id)

    def force_selected(self) -> None:
        """Force the selected candidate, if the grammar does not allow it."""
        chosen = self.candidates.chosen()
        if chosen is None or chosen.allowed:
            self.show_stop(ui_text("generation.pane.select_to_force"))
        else:
            self.token_forced.emit(chosen.token_id)

    def commit_prompt(self) -> None:
        """Report a prompt that is still being typed, before a step is taken from outside the pane."""
        self.prompt.commit()

    def add_page(self, page: Lazy[Built], title: str) -> None:
        """Add a page beside the candidates."""
        self.pages.add_lazy(page, title)

    @property
    def many(self) -> ManySeedsPage:
        """Return the page of many seeds."""
        return self.lazy_many.get()

    @property
    def baseline(self) -> BaselinePage:
        """Return the page of the unconstrained baseline."""
        return self.lazy_baseline.get()

    @property
    def run_until(self) -> RunUntilPopover:
        """Return the popover of run goals."""
        return self.lazy_run_until.get()

    @property
    def compare(self) -> ComparePopover:
        """Return the popover of the engines that are compared."""
        return self.lazy_compare.get()

    def _make_compare(self) -> ComparePopover:
        from app.panes.generation.compare_popover import ComparePopover  # start-up time: it loads the servers

        compare = ComparePopover(self)
        compare.chosen.connect(self.engines_chosen)
        return compare

    def _open_compare(self) -> None:
        """Open the popover of engines; those that are installed are listed then."""
        self.engines_wanted.emit()
        self.compare.open_under(self.candidates.compare)

    def _make_many(self) -> ManySeedsPage:
        from app.panes.generation.many_seeds import ManySeedsPage  # start-up time: 5 ms

        many = ManySeedsPage()
        many.set_refusal(self._sampling_refusal)
        many.wanted.connect(self.many_wanted)
        many.cancelled.connect(self.many_cancelled)
        many.opened.connect(self.outcome_opened)
        many.heat_wanted.connect(self.heat_wanted)
        many.show_settings(_settings_of(self._view))
        return many

    def _make_words(self) -> PromptWordsPage:
        from app.panes.generation.prompt_words import PromptWordsPage  # start-up time: it is seldom opened

        words = PromptWordsPage()
        words.cancelled.connect(self.words_cancelled)
        return words

    def open_words(self) -> PromptWordsPage:
        """Open the page of the prompt's words, and return it."""
        page = self.lazy_words.get()
        self.pages.setCurrentWidget(page)
        return page

    def _make_baseline(self) -> BaselinePage:
        page = BaselinePage()
        page.set_refusal(self._sampling_refusal)
        page.wanted.connect(self.baseline_wanted)
        page.cancelled.connect(self.baseline_cancelled)
        return page

    def _make_text(self) -> TextPage:
        page = TextPage(lambda: self.output.shown)
        page.node_clicked.connect(self.node_clicked)
        return page

    def _show_text(self) -> None:
        if self.lazy_text.built is not None:
            self.lazy_text.built.show_output()

    def _make_run_until(self) -> RunUntilPopover:
        run_until = RunUntilPopover(self)
        run_until.wanted.connect(self.until_wanted)
        return run_until

    def _build(self) -> None:
        head = QWidget()
        head_layout = QVBoxLayout(head)
        head_layout.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_XS)
        head_layout.setSpacing(theme.SPACE_S)
        head_layout.addWidget(self.prompt)
        head_layout.addWidget(self.processors.chip, 0, Qt.AlignmentFlag.AlignLeft)
        self._division = OutputSplitter(self.output, self._build_pages())
        for part in (self.output, self.headline, self.candidates):
            self._division.tightened.connect(part.set_tight)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._build_bar())
        layout.addWidget(self.banner)
        layout.addWidget(self.processors.notice)
        layout.addWidget(self.loading)
        layout.addWidget(head)
        layout.addWidget(self._division, 1)

    def _build_bar(self) -> QWidget:
        heading = Label(ui_text("generation.pane.heading"))
        heading.setProperty("role", "heading")
        bar = QFrame()
        bar.setProperty("role", "bar")
        row = QHBoxLayout(bar)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        row.addWidget(heading)
        row.addStretch()
        for widget in (self.processors.button, self.sampler, self.budget):
            row.addWidget(widget)
        return bar

    def _build_pages(self) -> QWidget:
        self.pages.addTab(_NextTokenPage(self.candidates, self.why), ui_text("generation.pane.next_token"))
        self.pages.add_lazy(self.lazy_text, ui_text("common.word.text"))
        self.pages.add_lazy(self.lazy_many, ui_text("generation.pane.many_seeds"))
        self.pages.add_lazy(self.lazy_baseline, ui_text("generation.pane.baseline"))
        self.pages.add_lazy(self.lazy_words, ui_text("generation.words.title"))
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        layout.setSpacing(theme.SPACE_XS)
        layout.addWidget(self.headline)
        layout.addWidget(self.price)
        layout.addWidget(self.pages, 1)
        return box

    def _connect(self) -> None:
        self.sampler_edited = self.sampler.edited
        self.budget_edited = self.budget.edited
        self.processors.sampler_wanted.connect(self.sampler.click)
        self.processors.refused.connect(self.show_stop)
        self.prompt_edited = self.prompt.edited
        self.prompt_drafted = self.prompt.drafted
        self.secrets_removed = self.prompt.secrets_removed
        self.node_clicked = self.output.node_clicked
        self.output.changed.connect(self._show_text)
        self.token_taken = self.candidates.token_taken
        self.why_wanted = self.candidates.why_wanted
        self.token_forced = self.candidates.force_wanted
        self.candidates.until_wanted.connect(self._run_until_token)
        self.words_wanted = self.candidates.words_wanted
        self.candidates.compare.clicked.connect(self._open_compare)
        self.colours_chosen = self.output.colours_chosen
        self.lookup_wanted = self.candidates.lookup_wanted
        self.text_explained = self.candidates.text_explained
        self.span_wanted = self.why.span_wanted
        self.why.closed.connect(self.candidates.table.setFocus)
        CloseOnEscape(self, self.why.isVisible, self.why.close_panel)
        self.loading_cancelled = self.loading.cancelled

    def _run_until_token(self, token_id: int) -> None:
        found = self.candidates.candidate(token_id)
        label = f"“{candidate_text(found)}”" if found is not None else f"#{token_id}"
        self.until_wanted.emit(RunUntil(Goal.TOKEN, token_id=token_id, label=label))

    def _show_headline(self) -> None:
        position = self._view.position
        if position is None:
            self.headline.show_text(self._refusal or _reason_without_position(self._view))
        elif position.allowed == 0 and not position.output and self._drawn is not None and not self._drawn.states:
            self.headline.show_empty_language()
        else:
            self.headline.show_position(position, self._view.dead_end, has_model=self._view.has_model)

    def _show_note(self, view: DecodeView) -> None:
        message = view.error or view.note
        if self.banner.has_action or not (message or self._shows_note):
            return
        self._shows_note, self._run_end = bool(message), ""
        self.banner.show_message(message, severity="error" if view.error else "hint")

    def _name_states(self) -> None:
        drawn, live = self._drawn, self._live
        if drawn is None or live is None or self._view.position is None:
            self.candidates.set_states(None)
            return

        def name_state(candidate: Candidate) -> str | None:
            state = drawn.run(candidate.token, live) if candidate.token else None
            return None if state is None else str(state)

        self.candidates.set_states(name_state)


class _NextTokenPage(QWidget):
    """The candidates, with *Why not?* below them, which scrolls rather than leaving room for fewer than ten."""

    def __init__(self, candidates: CandidateTable, why: WhyPanel) -> None:
        super().__init__()
        self._candidates, self._why = candidates, why
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SPACE_XS, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(candidates, 1)
        layout.addWidget(why)

    def event(self, event: QEvent) -> bool:
        """Limit the height of *Why not?* when the size or the content changes."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._candidates.set_beside_answer(self._why.isVisibleTo(self))
            candidates = self._candidates.height_of(_CANDIDATES_BESIDE_WHY)
            room = self.height() - theme.SPACE_XS - theme.SPACE_S - candidates
            self._why.setMaximumHeight(max(room, self._why.minimumSizeHint().height()))
        return super().event(event)


def _reason_without_position(view: DecodeView) -> str:
    return ui_text("generation.pane.no_model" if view.model is None else "generation.pane.no_grammar")


def _settings_of(view: DecodeView) -> tuple[object, ...]:
    """Return what determines an output, besides the seed."""
    sampler = replace(view.sampler, seed=0)
    return view.model, view.prompt, view.grammar_revision, view.pipeline, view.max_tokens, sampler
