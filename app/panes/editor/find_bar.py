"""The find and replace bar of the grammar; hidden until it is opened."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLineEdit

from app import theme
from app.actions import set_tip
from app.panes.editor.code_edit import CodeEdit
from app.panes.editor.occurrences import MOST, occurrences
from app.theme.buttons import close_button, icon_button, push_button, tool_button
from app.theme.labels import Label
from app.widgets.field_keys import FieldKeys
from engine.notations.editing import Edit
from engine.source import Span


class EditorFindBar(QFrame):
    """Finds a text in an editor, and replaces it."""

    def __init__(self, edit: CodeEdit) -> None:
        super().__init__()
        self._edit = edit
        self._spans: tuple[Span, ...] = ()
        self.setProperty("role", "bar")
        self.field = self._field("Find", "Find in the grammar")
        self.replacement = self._field("Replace by", "What to write instead")
        FieldKeys(self.field, self.go, self.close_bar)
        FieldKeys(self.replacement, lambda _step: self.replace_one(), self.close_bar)
        self.says = Label()
        self.says.setProperty("role", "muted")
        self.says.setMinimumWidth(self.fontMetrics().horizontalAdvance("10,000 of 10,000"))
        self.case_button = tool_button("Aa", "Match case", name="Match case", checkable=True)
        self.words_button = tool_button("W", "Whole words only", name="Whole words only", checkable=True)
        self.previous_button = icon_button("ph.caret-up", "Previous")
        self.next_button = icon_button("ph.caret-down", "Next")
        self.close_button = close_button("Close")
        self.replace_button = push_button("Replace")
        set_tip(self.previous_button, "Previous", "edit.find_previous")
        set_tip(self.next_button, "Next", "edit.find_next")
        set_tip(self.close_button, "Close", "find.close")
        set_tip(self.replace_button, "Replace this one, and go to the next", "find.replace")
        self.all_button = push_button("Replace all", "Replace all of them, as one step of undo")
        self._lay_out()
        self.hide()
        self.field.textChanged.connect(self._search)
        self.case_button.toggled.connect(self._search)
        self.words_button.toggled.connect(self._search)
        self.next_button.clicked.connect(lambda: self.go(1))
        self.previous_button.clicked.connect(lambda: self.go(-1))
        self.close_button.clicked.connect(self.close_bar)
        self.replace_button.clicked.connect(self.replace_one)
        self.all_button.clicked.connect(self.replace_all)
        edit.textChanged.connect(self._search_again)

    def open_bar(self, *, replaces: bool = False) -> None:
        """Show the bar; the selection becomes the search text."""
        selected = self._edit.text()[self._edit.selection.start : self._edit.selection.end]
        for widget in (self.replacement, self.replace_button, self.all_button):
            widget.setVisible(replaces)
        self.show()
        if selected and "\n" not in selected:
            self.field.setText(selected)
        self._search()
        self.field.setFocus()
        self.field.selectAll()

    def close_bar(self) -> None:
        """Hide the bar and focus the text."""
        if not self.isHidden():
            self.hide()
            self._spans = ()
            self._edit.show_found(())
            self._edit.setFocus()

    def go(self, step: int) -> None:
        """Go to the next match (1), or to the previous one (-1), wrapping around."""
        if self.isHidden() and self.field.text():
            self._spans = self._find()
        if not self._spans:
            return
        here = self._edit.selection
        if step > 0:
            later = [span for span in self._spans if span.start >= max(here.end, here.start + (here in self._spans))]
            self._edit.select(later[0] if later else self._spans[0])
        else:
            earlier = [span for span in self._spans if span.end <= here.start]
            self._edit.select(earlier[-1] if earlier else self._spans[-1])
        self._show_count()

    def replace_one(self) -> None:
        """Replace the selection if it is a match, then go to the next match."""
        here = self._edit.selection
        if here in self._spans:
            self._edit.apply((Edit(here, self.replacement.text()),))
        self.go(1)

    def replace_all(self) -> None:
        """Replace all matches, as one undo step."""
        count = len(self._spans)
        self._edit.apply([Edit(span, self.replacement.text()) for span in self._spans])
        if count:
            self.says.setText(f"{count:,} replaced")

    # --- searching ---------------------------------------------------------------------------------------------------

    def _find(self) -> tuple[Span, ...]:
        return occurrences(
            self._edit.text(),
            self.field.text(),
            match_case=self.case_button.isChecked(),
            whole_words=self.words_button.isChecked(),
        )

    def _search(self) -> None:
        self._search_again()
        here = self._edit.selection.start
        ahead = [span for span in self._spans if span.start >= here]
        if self._spans and not self.isHidden():
            self._edit.select(ahead[0] if ahead else self._spans[0])
        self._show_count()

    def _search_again(self) -> None:
        if self.isHidden():
            return
        self._spans = self._find()
        self._edit.show_found(self._spans)
        self._show_count()

    def _show_count(self) -> None:
        here = self._edit.selection
        count = f"{len(self._spans):,}" if len(self._spans) < MOST else f"{MOST:,} or more"
        if not self.field.text():
            self.says.setText("")
        elif not self._spans:
            self.says.setText("Nothing found")
        elif here in self._spans:
            self.says.setText(f"{self._spans.index(here) + 1:,} of {count}")
        else:
            self.says.setText(f"{count} found")
        for button in (self.previous_button, self.next_button, self.replace_button, self.all_button):
            button.setEnabled(bool(self._spans))

    # --- building ----------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACE_XS)
        replaces = QHBoxLayout()
        replaces.setSpacing(theme.SPACE_XS)
        grid = QGridLayout(self)
        grid.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS)
        grid.setSpacing(theme.SPACE_XS)
        grid.setColumnStretch(0, 1)
        grid.addWidget(self.field, 0, 0)
        grid.addWidget(self.says, 0, 1)
        grid.addLayout(buttons, 0, 2)
        for button in (
            self.case_button,
            self.words_button,
            self.previous_button,
            self.next_button,
            self.close_button,
        ):
            buttons.addWidget(button)
        grid.addWidget(self.replacement, 1, 0)
        grid.addLayout(replaces, 1, 1, 1, 2)
        replaces.addWidget(self.replace_button)
        replaces.addWidget(self.all_button)
        replaces.addStretch(1)
        order = (
            self.field,
            self.replacement,
            self.replace_button,
            self.all_button,
            self.case_button,
            self.words_button,
            self.previous_button,
            self.next_button,
            self.close_button,
        )
        for before, after in pairwise(order):
            self.setTabOrder(before, after)

    def _field(self, placeholder: str, name: str) -> QLineEdit:
        field = QLineEdit()
        field.setPlaceholderText(placeholder)
        field.setAccessibleName(name)
        field.setMinimumWidth(80)
        return field
