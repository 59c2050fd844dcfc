"""Binds the test strings to the session, and handles their commands."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from app.commands import command
from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.widgets.lazy import Lazy
from app.workers.requests.judge import JudgeAnswer
from engine.diagnosis.test_strings.values import Coverage, CoverageSource, SuggestionKind
from engine.source import SourceText

if TYPE_CHECKING:
    from app.panes.test_strings.pane import StringTestsPane


class StringTestsPresenter(PanePresenter):
    """Shows the test strings of the document with their verdicts; the pane is also built when there are verdicts."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: Lazy[StringTestsPane] = Lazy(self._make)
        self.session.test_runs.judged.connect(self._show_judged)
        self.session.coverage.found_changed.connect(self._show_coverage)
        self.session.coverage.choice_changed.connect(self._show_source)
        context.commands.add(self)

    def _make(self) -> StringTestsPane:
        from app.panes.test_strings.pane import StringTestsPane  # start-up time: 3 ms

        session, view = self.session, StringTestsPane()
        view.show_texts(session.document.content.test_strings)
        view.set_stale(session.compiling.stale_reason)
        for signal in (session.document.replaced, session.document.test_strings_changed):
            signal.connect(lambda: view.show_texts(session.document.content.test_strings))
        session.compiling.stale_changed.connect(lambda _stale, reason: view.set_stale(reason))
        view.edited.connect(session.test_runs.set_texts)
        view.watched.connect(partial(session.coverage.watch, "tests"))
        view.source_chosen.connect(session.coverage.choose)
        view.suggestions_wanted.connect(lambda kind: session.test_runs.suggest(kind, view.show_suggestions))
        view.span_wanted.connect(session.links.span_chosen)
        view.choose_source(session.coverage.source)
        for source in (CoverageSource.GENERATED, CoverageSource.LOG):
            view.show_coverage(source, session.coverage.of(source)[1] or Coverage())
        view.summary_changed.connect(self.title_changed)  # last: the tab has no title while the pane is built
        return view

    def _show_judged(self, answer: JudgeAnswer) -> None:
        drawn = self.session.compiling.last_good
        self.view.get().show_answer(answer, SourceText(drawn.request.text if drawn is not None else ""))

    def _show_coverage(self, source: CoverageSource, coverage: Coverage) -> None:
        if self.view.built is not None:
            self.view.built.show_coverage(source, coverage)

    def _show_source(self) -> None:
        if self.view.built is not None:
            self.view.built.choose_source(self.session.coverage.source)

    # --- commands ----------------------------------------------------------------------------------------------------

    def _reveal(self) -> StringTestsPane:
        self.context.reveal(self.view.get())
        return self.view.get()

    @command("tests.add", "Ctrl+T", place=(1, 2))
    def _add(self) -> None:
        self._reveal().add()

    @command("tests.paste", "Ctrl+Shift+V", place=(1, 3))
    def _paste(self) -> None:
        self._reveal().paste()

    @command("tests.duplicate", "Ctrl+Shift+D", place=(1, 4))
    def _duplicate(self) -> None:
        self._reveal().duplicate()

    @command("tests.remove", "Ctrl+Shift+Del", place=(1, 5))
    def _remove(self) -> None:
        self._reveal().remove()

    @command("tests.toggle", "Ctrl+U", place=(1, 6))
    def _toggle(self) -> None:
        self._reveal().toggle()

    @command("tests.failure", "Shift+F8", place=(1, 7), repeats=True)
    def _go_to_failure(self) -> None:
        self._reveal().go_to_failure()

    @command("tests.shortest", "Ctrl+Shift+L", place=(2, 1), arguments=(SuggestionKind.SHORTEST,))
    @command("tests.random", "Ctrl+Shift+R", place=(2, 2), arguments=(SuggestionKind.RANDOM,))
    @command("tests.rules", "Ctrl+Shift+U", place=(2, 3), arguments=(SuggestionKind.RULE,))
    @command("tests.near", "Ctrl+Shift+M", place=(2, 4), arguments=(SuggestionKind.NEAR_MISS,))
    def _suggest(self, kind: SuggestionKind) -> None:
        self._reveal().suggest(kind)


PANE = PaneSpec(
    "tests",
    "Ctrl+6",
    (1, 6),
    Area.BOTTOM,
    StringTestsPresenter,
    menu=("tests.add", "tests.paste", "tests.check", "tests.failure"),
)
