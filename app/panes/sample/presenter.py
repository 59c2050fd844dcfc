"""Binds the sample text to the session: it is judged when it or the grammar changes, while the pane is visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.catalogue import ui_text
from app.delays import delayed
from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.session import Notification
from app.widgets.lazy import Lazy

if TYPE_CHECKING:
    from app.panes.sample.pane import SamplePane

_DELAY_MS = 40


class SamplePresenter(PanePresenter):
    """Requests the verdicts on the sample of the document."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: Lazy[SamplePane] = Lazy(self._make)
        self._timer = delayed(self, _DELAY_MS, self._request)

    def _make(self) -> SamplePane:
        from app.panes.sample.pane import SamplePane  # start-up time: the pane is built when first shown

        session, pane = self.session, SamplePane()
        pane.show_text(session.document.content.sample)
        pane.set_stale(session.compiling.stale_reason)
        session.document.replaced.connect(lambda: pane.show_text(session.document.content.sample))
        session.compiling.compiled.connect(lambda _drawn: self._timer.start())
        session.compiling.stale_changed.connect(lambda _stale, reason: pane.set_stale(reason))
        pane.edited.connect(session.document.set_sample)
        pane.verdicts_wanted.connect(self._timer.start)
        pane.test_wanted.connect(lambda text, accepts: session.test_runs.add_text(text, accepts=accepts))
        pane.span_wanted.connect(session.links.span_chosen)
        pane.field.secrets_removed.connect(self._report_secrets)
        return pane

    def _report_secrets(self, count: int) -> None:
        text = ui_text("window.notation.secrets", count=count)
        self.session.notification_raised.emit(Notification("window", text, severity="warning"))

    def _request(self) -> None:
        pane = self.view.get()
        if pane.isVisible():
            self.session.test_runs.judge_sample(pane.text, pane.mode, pane.show_answer)


PANE = PaneSpec("sample", "Ctrl+L, M", (1, 14), Area.BOTTOM, SamplePresenter, menu=("tests.add", "tests.check"))
