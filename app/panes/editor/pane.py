"""The editor pane: a bar that says which notation and where the cursor is, and the text."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app import theme
from app.panes.editor.code_edit import CodeEdit
from app.panes.editor.gbnf import tokenise_gbnf
from app.panes.editor.offsets import Offsets
from app.panes.editor.regex import tokenise_regex
from app.panes.editor.schema import tokenise_json
from app.panes.editor.tokens import Tokeniser, plain
from engine.source import Diagnostic, Span

_TOKENISERS: dict[str, Tokeniser] = {"regex": tokenise_regex, "gbnf": tokenise_gbnf, "json_schema": tokenise_json}
_NAMES = {"regex": "Regular expression", "gbnf": "GBNF", "json_schema": "JSON Schema"}
_PLACEHOLDERS = {
    "regex": r"Type a regular expression, such as [A-Z]+: [a-z]+\n",
    "gbnf": 'Type rules, such as root ::= "yes" | "no"',
    "json_schema": 'Type a JSON Schema, such as {"type": "integer"}',
}


class EditorPane(QWidget):
    """Edits a grammar's text.

    Signals:
        text_edited: the text, after the user changed it.
        offset_hovered: the code point under the pointer, -1 for none.
    """

    text_edited = Signal(str)
    offset_hovered = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.edit = CodeEdit()
        self.setFocusProxy(self.edit)
        bar = QFrame()
        bar.setProperty("role", "bar")
        title = QLabel("Grammar")
        title.setProperty("role", "heading")
        self._notation = QLabel()
        self._notation.setProperty("role", "muted")
        self._place = QLabel()
        self._place.setProperty("role", "muted")
        self._place.setToolTip("Line and column of the cursor")
        row = QHBoxLayout(bar)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_S)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(title)
        row.addWidget(self._notation)
        row.addStretch(1)
        row.addWidget(self._place)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(bar)
        layout.addWidget(self.edit, 1)

        self.edit.edited.connect(self.text_edited)
        self.edit.offset_hovered.connect(self.offset_hovered)
        self.edit.cursorPositionChanged.connect(self._tell_place)
        theme.themes.changed.connect(self.edit.recolour)
        self.set_notation("regex")
        self._tell_place()

    def text(self) -> str:
        """The grammar's text."""
        return self.edit.text()

    def set_text(self, text: str) -> None:
        """Show another text; it is no edit: nothing is emitted, and it cannot be undone."""
        self.edit.set_text(text)

    def set_notation(self, notation: str) -> None:
        """Colour the text as this notation."""
        self._notation.setText(_NAMES.get(notation, notation))
        self.edit.setPlaceholderText(_PLACEHOLDERS.get(notation, "Type a grammar"))
        self.edit.set_tokeniser(_TOKENISERS.get(notation, plain))
        # A regex has no words to keep whole; a rule and a key are read as words.
        is_regex = notation == "regex"
        wrap = QTextOption.WrapMode
        self.edit.setWordWrapMode(wrap.WrapAnywhere if is_regex else wrap.WrapAtWordBoundaryOrAnywhere)

    def show_diagnostics(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Underline what is wrong, with a sign in the margin."""
        self.edit.show_diagnostics(diagnostics)

    def show_live(self, spans: tuple[Span, ...]) -> None:
        """Mark where the match stands."""
        self.edit.show_live(spans)

    def show_hover(self, spans: tuple[Span, ...]) -> None:
        """Mark what is pointed at in another pane."""
        self.edit.show_hover(spans)

    def go_to(self, span: Span) -> None:
        """Select a span, bring it into view, and take the focus."""
        self.edit.select(span)
        self.edit.setFocus()

    def _tell_place(self) -> None:
        cursor = self.edit.textCursor()
        column = Offsets(cursor.block().text()).to_code_points(cursor.positionInBlock())
        self._place.setText(f"{cursor.blockNumber() + 1}:{column + 1}")
