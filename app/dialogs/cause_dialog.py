"""The section of the manual's page of causes about one cause: when it is named, and what to do on each server."""

from __future__ import annotations

import re
from importlib.resources import files

from PySide6.QtWidgets import QDialog, QHBoxLayout, QTextBrowser, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.theme.buttons import push_button
from engine.diagnosis.failures.diagnosis import Cause

_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
_PASTED = "**Example:** paste"


def manual_section(cause: Cause) -> str:
    """Return the section about a cause in Markdown, without its heading, its links and a text to paste."""
    page = (files("resources") / "manual" / "causes.md").read_text("utf-8")
    _, _, rest = page.partition(f"\n## {cause}\n")
    section = rest.partition("\n## ")[0].partition(_PASTED)[0]
    return _LINK.sub(r"\1", section).strip()


class CauseDialog(QDialog):
    """Shows what a cause means.

    Args:
        cause: the cause.
        parent: the dialog that names it.
    """

    def __init__(self, cause: Cause, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(ui_text("dialogs.cause.title", name=cause))
        self.resize(620, 400)
        self.text = QTextBrowser()
        self.text.setProperty("role", "field")
        self.text.setAccessibleName(ui_text("dialogs.cause.text_name"))
        self.text.setTabChangesFocus(True)
        self.text.document().setDocumentMargin(theme.SPACE_M)
        self.text.setMarkdown(manual_section(cause))
        close = push_button(ui_text("common.button.close"), clicked=self.reject)
        close.setDefault(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_M)
        layout.addWidget(self.text)
        buttons = QHBoxLayout()
        layout.addLayout(buttons)
        buttons.addStretch()
        buttons.addWidget(close)
