"""Quick fixes for the finding at the cursor; a menu opens if there is a choice."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from app.actions import keys_of
from app.display_text import unmarked
from app.panes.editor.code_edit import CodeEdit
from app.theme.plain_text import plain_text
from engine.diagnosis.fixes import Fix, fixes
from engine.source import Diagnostic


class QuickFixMenu(QObject):
    """Offers the fixes of an editor's findings."""

    def __init__(self, edit: CodeEdit) -> None:
        super().__init__(edit)
        self._edit = edit
        edit.fix_told = self.told

    def open(self) -> None:
        """Apply the fix at the cursor or on its line; open a menu if there are several."""
        findings = self._findings_at(self._edit.caret)
        if not findings and self._edit.diagnostics and not self._edit.current_diagnostics:
            self._edit.say("The text has just changed and is still being read")
        else:
            self._offer(findings, self._edit.cursorRect().bottomLeft())

    def open_for(self, finding: Diagnostic) -> None:
        """Apply the fix of one finding, or open a menu."""
        if finding in self._edit.current_diagnostics:
            self._edit.select(finding.span)
            self._edit.setFocus()
            self._offer([finding], self._edit.cursorRect().bottomLeft())

    def told(self, finding: Diagnostic) -> str:
        """Return the line of a tool tip with the fixes of a finding; empty if there are none."""
        if finding not in self._edit.current_diagnostics:
            return ""
        offered = fixes(self._edit.text(), finding)
        return f"{keys_of('edit.fix')}: {' · '.join(fix.title for fix in offered)}" if offered else ""

    def actions_at(self, offset: int, parent: QObject) -> list[QAction]:
        """Return the actions for a context menu at an offset."""
        return list(self._actions(self._findings_at(offset), parent))

    def _offer(self, findings: list[Diagnostic], position: QPoint) -> None:
        menu = QMenu(self._edit)
        menu.setAccessibleName("Fixes")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        actions = list(self._actions(findings, menu))
        if not actions:
            menu.deleteLater()
            self._edit.say("No fix is known for this" if findings else "Nothing is wrong on this line")
        elif len(actions) == 1:
            actions[0].trigger()
            menu.deleteLater()
        else:
            menu.addActions(actions)
            menu.setActiveAction(actions[0])
            menu.popup(self._edit.viewport().mapToGlobal(position))

    def _actions(self, findings: Iterable[Diagnostic], parent: QObject) -> Iterable[QAction]:
        for finding in findings:
            for fix in fixes(self._edit.text(), finding):
                action = QAction(unmarked(fix.title).replace("&", "&&"), parent)
                action.setToolTip(plain_text(unmarked(finding.message)))
                action.triggered.connect(self._make_handler(fix, self._edit.text()))
                yield action

    def _make_handler(self, fix: Fix, text: str) -> Callable[[], None]:
        def apply() -> None:
            if self._edit.text() == text:
                self._edit.apply(fix.edits, fix.caret)
                self._edit.setFocus()

        return apply

    def _findings_at(self, offset: int) -> list[Diagnostic]:
        """Return the findings at an offset, the narrowest first; by default those that begin on its line."""
        found = [f for f in self._edit.current_diagnostics if f.span.start <= offset <= f.span.end]
        if not found:
            text = self._edit.text()
            start = text.rfind("\n", 0, offset) + 1
            end = text.find("\n", offset)
            end = len(text) if end < 0 else end
            found = [f for f in self._edit.current_diagnostics if start <= f.span.start <= end]
        return sorted(found, key=lambda finding: finding.span.end - finding.span.start)
