"""Binds the list of problems to the session."""

from __future__ import annotations

from collections.abc import Sequence

from app.catalogue import ui_text
from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.panes.problems.pane import ProblemsPane
from engine.source import Diagnostic, SourceText


class ProblemsPresenter(PanePresenter):
    """Lists the findings about the current text; the tab shows their number."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: ProblemsPane = ProblemsPane()
        self.session.compiling.diagnosed.connect(self._show)
        self.view.activated.connect(self.session.links.problem_chosen)
        self.view.fix_wanted.connect(self.session.links.fix_wanted)
        context.commands.add(self.view)

    def _show(self, diagnostics: Sequence[Diagnostic], source: SourceText) -> None:
        self.view.show_diagnostics(tuple(diagnostics), source)
        title = ui_text("commands.view.problems.title")
        if diagnostics:
            title = ui_text("window.main.problems", count=len(diagnostics))
        self.title_changed.emit(title)


PANE = PaneSpec("problems", "Ctrl+4", (1, 4), Area.BOTTOM, ProblemsPresenter, menu=("edit.problem", "edit.fix"))
