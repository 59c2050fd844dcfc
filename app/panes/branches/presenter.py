"""Binds the branches to the session: the trace, the archived branches of the document, and what is opened of them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from app.catalogue import ui_text
from app.commands import command
from app.pane_spec import Area, PaneContext, PanePresenter, PaneSpec
from app.session import Notification
from app.widgets.lazy import Lazy
from engine.decoding.values import ArchivedBranch, Step

if TYPE_CHECKING:
    from app.panes.branches.pane import BranchesPane


class BranchesPresenter(PanePresenter):
    """Shows the branches, opens the one that the user chooses, and keeps those that the user names."""

    def __init__(self, context: PaneContext) -> None:
        super().__init__(context)
        self.view: Lazy[BranchesPane] = Lazy(self._make)
        context.commands.add(self, self.session.step_allowed_changed)

    def _make(self) -> BranchesPane:
        from app.panes.branches.pane import BranchesPane  # start-up time: the pane is built when first shown

        session, pane = self.session, BranchesPane()
        pane.node_chosen.connect(self._go_to)
        pane.archived_chosen.connect(lambda branch: session.links.branch_read.emit((branch,)))
        pane.keep_wanted.connect(self._keep)
        pane.renamed.connect(lambda branch, name: session.document.change_archived(branch, replace(branch, name=name)))
        pane.removed.connect(self._remove)
        for changed in (session.document.replaced, session.document.archived_changed, session.decoding.view_changed):
            changed.connect(self._show)
        self._show_in(pane)
        return pane

    def _show(self, *_changed: object) -> None:
        if self.view.built is not None:
            self._show_in(self.view.built)

    def _show_in(self, pane: BranchesPane) -> None:
        shown, content = self.session.decoding.view, self.session.document.content
        name = content.model.name if shown.model is None else shown.model.name
        pane.show_branches(shown.trace, content.archived, name)

    def _go_to(self, node_id: int) -> None:
        self.session.links.branch_read.emit(())
        self.session.decoding.go_to(node_id)

    @property
    def keep_refusal(self) -> str:
        """Return why there is nothing to keep; an empty text if there is."""
        return "" if self.session.decoding.view.trace.path else ui_text("window.command.no_step")

    @command("run.keep_branch", "Ctrl+R, K", place=(3, 4), refusal=lambda self: self.keep_refusal)
    def _keep_shown(self) -> None:
        """Keep the selected branch, or the shown output, and let the user name it."""
        self.context.commands["view.branches"].trigger()
        self._show()
        self.view.get().keep_selected()

    def _keep(self, steps: tuple[Step, ...]) -> None:
        shown, document = self.session.decoding.view, self.session.document
        names = {one.name for one in document.content.archived}
        numbered = (ui_text("branches.kept", number=number) for number in range(1, len(names) + 2))
        name = next(one for one in numbered if one not in names)
        kept = ArchivedBranch("" if shown.model is None else shown.model.name, shown.prompt, steps, name)
        document.add_archived(kept)
        self.view.get().edit_name(kept)

    def _remove(self, branch: ArchivedBranch) -> None:
        document = self.session.document
        document.change_archived(branch, None)
        self.session.notification_raised.emit(
            Notification(
                "window",
                ui_text("branches.removed"),
                button=ui_text("branches.restore"),
                action=partial(document.add_archived, branch),
                severity="hint",
                is_passing=True,
                is_of_document=True,
            )
        )


PANE = PaneSpec(
    "branches",
    "Ctrl+L, Y",
    (1, 15),
    Area.BOTTOM,
    BranchesPresenter,
    menu=("run.keep_branch", "run.back", "run.restart"),
)
