"""The generation pane, put together.

Values go in by `show_…` and `set_…`, what the user wants comes out by signals. It
knows neither a session nor a worker, so every state of it can be made in a test
by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QSplitter, QTabWidget, QVBoxLayout, QWidget

from app import theme
from app.panes.generation.banner import Banner, Loading, Severity
from app.panes.generation.candidate_table import CandidateTable
from app.panes.generation.controls import Controls
from app.panes.generation.headline import Headline
from app.panes.generation.many_seeds import ManySeeds
from app.panes.generation.output import OutputBox
from app.panes.generation.prompt_box import PromptBox
from app.panes.generation.why_panel import WhyPanel
from app.workers.messages import DecodeView, LookupAnswer, ManyAnswer, WhyAnswer
from engine.decoding.values import FormerBranch

if TYPE_CHECKING:
    from engine.automata.dfa import ByteDfa


class GenerationPane(QFrame):
    """Shows a generation and asks for its next step.

    Signals:
        step_clicked, back_clicked, restart_clicked: the buttons.
        run_toggled(wanted): Run, or Pause.
        token_taken(token id): take this token.
        why_wanted(token id): explain this token.
        node_clicked(step id): stand right after this step.
        lookup_wanted(text): find tokens among the whole vocabulary.
        prompt_edited(prompt), sampler_edited(SamplerSettings): start anew; draw differently.
        budget_edited(max tokens): end sooner or later.
        many_wanted(count), many_cancelled: many seeds in one go.
        loading_cancelled: the model on its way is not wanted any more.
        span_wanted(Span): show this place of the grammar.
        banner_dismissed: the user closed the banner.
    """

    step_clicked = Signal()
    back_clicked = Signal()
    restart_clicked = Signal()
    run_toggled = Signal(bool)
    token_taken = Signal(int)
    why_wanted = Signal(int)
    node_clicked = Signal(int)
    lookup_wanted = Signal(str)
    prompt_edited = Signal(object)
    sampler_edited = Signal(object)
    budget_edited = Signal(int)
    many_wanted = Signal(int)
    many_cancelled = Signal()
    loading_cancelled = Signal()
    span_wanted = Signal(object)
    banner_dismissed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._view = DecodeView()
        self._source = ""
        self._refusal = ""
        self._has_noted = False
        self._drawn: ByteDfa | None = None
        self._live: int | None = None
        self.banner = Banner()
        self.loading = Loading()
        self.prompt = PromptBox()
        self.controls = Controls()
        self.output = OutputBox()
        self.headline = Headline()
        self.candidates = CandidateTable()
        self.why = WhyPanel()
        self.many = ManySeeds()
        self.pages = QTabWidget(documentMode=True)
        self._build()
        self._connect()
        self.setFocusProxy(self.controls.step)
        self.candidates.show_position(None)
        self.set_refusal(_why_nothing(self._view))
        self.show_view(self._view)

    # --- values in ------------------------------------------------------------------------------------------------

    def show_view(self, view: DecodeView) -> None:
        """Show where a session stands."""
        moved = view.position != self._view.position
        self._view = view
        self.output.show_view(view)
        self.controls.set_can_go_back(view.trace.current is not None)
        self.controls.sampler.show_settings(view.sampler)
        self.controls.budget.show_budget(view.max_tokens)
        if not view.error:  # a prompt that was refused stays, to be mended
            self.prompt.show_prompt(view.prompt, view.prompt_tokens)
        self.prompt.set_can_chat(view.model is not None and view.model.has_chat)
        self._show_headline()
        if moved:
            self.why.hide()
            self._name_states()
            self.candidates.show_position(view.position)
        if view.error or view.model is None:
            self.stop_many("Stopped")
        self._note(view)

    def show_former(self, former: tuple[FormerBranch, ...]) -> None:
        """Offer what earlier prompts and models made, to be read."""
        self.output.show_former(former)

    def show_drawn(self, drawn: ByteDfa | None, live: int | None) -> None:
        """Name the target states of candidates by the automaton that is drawn.

        Args:
            drawn: the automaton; None where none is drawn.
            live: the state where the match stands; None where it is not drawn.
        """
        self._drawn, self._live = drawn, live
        self._name_states()
        self._show_headline()

    def show_why(self, answer: WhyAnswer) -> None:
        """Open *Why not?* under the candidates."""
        self.pages.setCurrentIndex(0)
        self.why.show_answer(answer, self.candidates.candidate(answer.token_id), self._source)

    def show_lookup(self, answer: LookupAnswer) -> None:
        """Show what a search found."""
        self.candidates.show_found(answer.text, answer.candidates)

    def show_many(self, answer: ManyAnswer) -> None:
        """Show the outcomes of many seeds so far."""
        self.many.show_answer(answer)

    def stop_many(self, why: str = "Cancelled") -> None:
        """No more outcomes will come; what there is stays."""
        self.many.stop(why)

    def show_banner(
        self,
        what: str,
        why: str = "",
        *,
        severity: Severity = "error",
        button: str = "",
        action: Callable[[], object] | None = None,
    ) -> None:
        """Say what failed, why, and offer one way on; an empty `what` takes it back."""
        self._has_noted = False
        self.banner.show_trouble(what, why, severity=severity, button=button, action=action)

    def show_loading(self, stage: str, done: int = 0, total: int | None = None) -> None:
        """Show how far a model is; an empty stage when it is there."""
        self.loading.show_progress(stage, done, total)

    def set_source(self, text: str) -> None:
        """The text of the grammar in force, for excerpts."""
        self._source = text

    def set_refusal(self, reason: str) -> None:
        """Say why no step is possible, and disable what would take one; empty where one is."""
        self._refusal = reason
        self.controls.set_refusal(reason)
        self.headline.set_refusal(reason)
        self.candidates.set_can_take(not reason)
        position = self._view.position
        ended = position is not None and position.finish is not None
        self.many.set_refusal("" if ended else reason)
        if position is None:
            self.headline.show_text(reason or _why_nothing(self._view))

    def set_running(self, is_running: bool) -> None:
        """Whether steps follow one another by themselves."""
        self.controls.set_running(is_running)

    # --- what the window may ask ----------------------------------------------------------------------------------

    def explain_selected(self) -> None:
        """Ask about the selected candidate, or about the token that the model wanted."""
        chosen = self.candidates.chosen()
        position = self._view.position
        if chosen is None and position is not None:
            chosen = position.wanted
        if chosen is not None:
            self.why_wanted.emit(chosen.token_id)

    def commit_prompt(self) -> None:
        """Report a prompt that is still being typed, before a step is taken from outside of the pane."""
        self.prompt.commit()

    def add_page(self, page: QWidget, title: str) -> None:
        """Put another page beside the candidates."""
        self.pages.addTab(page, title)

    # --- inside ---------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        head = QWidget()
        top = QVBoxLayout(head)
        top.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_XS)
        top.setSpacing(theme.SPACE_S)
        top.addWidget(self.prompt)
        top.addWidget(self.controls)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self.output)
        splitter.addWidget(self._next())
        splitter.setStretchFactor(0, 0)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([130, 600])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.banner)
        layout.addWidget(self.loading)
        layout.addWidget(head)
        layout.addWidget(splitter, 1)

    def _next(self) -> QWidget:
        following = QWidget()
        inner = QVBoxLayout(following)
        inner.setContentsMargins(0, theme.SPACE_S, 0, 0)
        inner.setSpacing(theme.SPACE_S)
        inner.addWidget(self.candidates, 1)
        inner.addWidget(self.why)
        self.pages.addTab(following, "Next token")
        self.pages.addTab(self.many, "Many seeds")
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self.headline)
        layout.addWidget(self.pages, 1)
        return box

    def _connect(self) -> None:
        self.controls.step_clicked.connect(self._on_step)
        self.controls.back_clicked.connect(self.back_clicked)
        self.controls.restart_clicked.connect(self.restart_clicked)
        self.controls.run_toggled.connect(self._on_run)
        self.controls.sampler.edited.connect(self.sampler_edited)
        self.controls.budget.edited.connect(self.budget_edited)
        self.prompt.edited.connect(self.prompt_edited)
        self.output.node_clicked.connect(self.node_clicked)
        self.candidates.token_taken.connect(self.token_taken)
        self.candidates.why_wanted.connect(self.why_wanted)
        self.candidates.lookup_wanted.connect(self.lookup_wanted)
        self.why.span_wanted.connect(self.span_wanted)
        self.why.closed.connect(self.candidates.table.setFocus)
        self.many.wanted.connect(self.many_wanted)
        self.many.cancelled.connect(self.many_cancelled)
        self.loading.cancelled.connect(self.loading_cancelled)
        self.banner.dismissed.connect(self.banner_dismissed)

    def _on_step(self) -> None:
        self.commit_prompt()
        self.step_clicked.emit()

    def _on_run(self, wanted: bool) -> None:
        self.commit_prompt()
        self.run_toggled.emit(wanted)

    def _show_headline(self) -> None:
        position = self._view.position
        if position is None:
            self.headline.show_text(self._refusal or _why_nothing(self._view))
        elif position.allowed == 0 and not position.output and self._drawn is not None and not self._drawn.states:
            self.headline.show_empty_language()
        else:
            self.headline.show_position(position)

    def _note(self, view: DecodeView) -> None:
        remark = view.error or view.note
        if self.banner.offers_a_way_on or not (remark or self._has_noted):
            return
        self._has_noted = bool(remark)
        self.banner.show_trouble(remark, severity="error" if view.error else "hint")

    def _name_states(self) -> None:
        position = self._view.position
        if self._drawn is None or position is None or self._live is None:
            self.candidates.set_states(None)
            return
        states = {
            candidate.token_id: str(target)
            for candidate in position.candidates
            if candidate.allowed
            and candidate.token
            and (target := self._drawn.run(candidate.token, self._live)) is not None
        }
        self.candidates.set_states(states)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes *Why not?*."""
        if event.key() == Qt.Key.Key_Escape and self.why.isVisibleTo(self):
            self.why.close_panel()
        else:
            super().keyPressEvent(event)


def _why_nothing(view: DecodeView) -> str:
    if view.model is None:
        return "No model is loaded yet"
    return "No grammar is in force yet"
