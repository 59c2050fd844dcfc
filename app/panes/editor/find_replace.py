"""Find and replace in the grammar."""

from __future__ import annotations

import re
from itertools import pairwise

from PySide6.QtCore import QObject, QRegularExpression
from PySide6.QtWidgets import QLineEdit, QToolButton, QWidget

from app.catalogue import ui_text
from app.commands import command, local_key, set_tip
from app.delays import delayed
from app.panes.editor.code_edit import CodeEdit
from app.panes.editor.offsets import Offsets
from app.theme.buttons import push_button, tool_button
from app.widgets.find_bar import FindBar
from app.widgets.keyboard import FieldKeys
from engine.notations.editing import Edit
from engine.source import Span

MOST = 10_000
"""The maximum number of matches."""


class FindReplace(QObject):
    """Find a text in an editor, and replace it.

    Attributes:
        bar: the find bar; a second row of it replaces.
        replacement: the field with the new text.
        case_button: whether upper and lower case differ.
        words_button: whether only whole words are found.
        regex_button: whether the search text is a regular expression.
    """

    def __init__(self, edit: CodeEdit) -> None:
        super().__init__(edit)
        self._edit = edit
        self._spans: tuple[Span, ...] = ()
        self._error = ""  # why the search text finds nothing
        self.bar = FindBar(
            ui_text("editor.find.name"),
            ui_text("common.button.find"),
            commands=("edit.find_previous", "edit.find_next"),
        )
        self.replacement = QLineEdit(placeholderText=ui_text("editor.find.replacement_hint"))
        self.replacement.setAccessibleName(ui_text("editor.find.replacement"))
        self.replacement.setMinimumWidth(80)
        FieldKeys(self.replacement, lambda _step: self.replace_one(), self.bar.close_bar)
        self.case_button = _option("Aa", ui_text("editor.find.case"))
        self.words_button = _option("W", ui_text("editor.find.words"))
        self.regex_button = _option(".*", ui_text("editor.find.regex"))
        self.replace_button = push_button(ui_text("editor.find.replace.label"), clicked=self.replace_one)
        set_tip(self.replace_button, ui_text("editor.find.replace.tip"), local_key("replace.one", "Return"))
        self.all_button = push_button(
            ui_text("editor.find.replace_all.label"), ui_text("editor.find.replace_all.tip"), clicked=self.replace_all
        )
        switches = self.case_button, self.words_button, self.regex_button
        for button in switches:
            button.toggled.connect(self._search)
            self.bar.add_control(button)
        self.bar.add_row(self.replacement, self.replace_button, self.all_button)
        buttons = self.bar.previous_button, self.bar.next_button, self.bar.close_button
        for before, after in pairwise((self.all_button, *switches, *buttons)):
            QWidget.setTabOrder(before, after)
        self.bar.text_changed.connect(self._search)
        self.bar.step_requested.connect(self.go)
        self.bar.closed.connect(self._on_closed)
        self._later = delayed(self, 0, self._search_again)  # not within the edit of a long text
        edit.textChanged.connect(self._later.start)

    @command("edit.find", "Ctrl+F", place=(2, 1), icon="ph.magnifying-glass", context="editor")
    @command("edit.replace", "Ctrl+H", "Meta+H", place=(2, 4), context="editor", arguments=(True,))
    def open(self, replaces: bool = False) -> None:
        """Open the bar; the selection becomes the search text."""
        selected = self._edit.text()[self._edit.selection.start : self._edit.selection.end]
        for widget in (self.replacement, self.replace_button, self.all_button):
            widget.setVisible(replaces)
        if selected and "\n" not in selected:
            self.bar.field.setText(selected)
        self.bar.open_bar()
        self._show_count()

    def _on_closed(self) -> None:
        self._spans = ()
        self._edit.show_found(())
        self._edit.setFocus()

    @command("edit.find_next", "F3", place=(2, 2), repeats=True, arguments=(1,))
    @command("edit.find_previous", "Shift+F3", place=(2, 3), repeats=True, arguments=(-1,))
    def go(self, step: int) -> None:
        """Go to the next match (1), or to the previous one (-1), wrapping around."""
        if self.bar.isHidden() and self.bar.text():
            self._spans = self._find()
        self._catch_up()
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
        self._catch_up()
        here = self._edit.selection
        if here in self._spans:
            self._edit.apply((Edit(here, self.replacement.text()),))
        self.go(1)

    def replace_all(self) -> None:
        """Replace all matches, as one undo step."""
        self._catch_up()
        count = len(self._spans)
        self._edit.apply([Edit(span, self.replacement.text()) for span in self._spans])
        if count:
            self.bar.set_result(ui_text("editor.find.replaced", count=count))

    # --- searching ---------------------------------------------------------------------------------------------------

    def _find(self) -> tuple[Span, ...]:
        self._error = ""
        try:
            return occurrences(
                self._edit.text(),
                self.bar.text(),
                match_case=self.case_button.isChecked(),
                whole_words=self.words_button.isChecked(),
                is_regex=self.regex_button.isChecked(),
            )
        except SearchError as error:
            self._error = str(error)
            return ()

    def _search(self) -> None:
        self._search_again()
        here = self._edit.selection.start
        ahead = [span for span in self._spans if span.start >= here]
        if self._spans and not self.bar.isHidden():
            self._edit.select(ahead[0] if ahead else self._spans[0])
        self._show_count()

    def _catch_up(self) -> None:
        if self._later.isActive():
            self._search_again()

    def _search_again(self) -> None:
        self._later.stop()
        if self.bar.isHidden():
            return
        self._spans = self._find()
        self._edit.show_found(self._spans)
        self._show_count()

    def _show_count(self) -> None:
        here = self._edit.selection
        count = f"{len(self._spans):,}" if len(self._spans) < MOST else ui_text("editor.find.most", count=MOST)
        if not self.bar.text():
            self.bar.set_result("")
        elif not self._spans:
            nothing = ui_text("common.find.nothing")
            self.bar.set_result(
                self._error or nothing, ui_text("editor.find.invalid_short") if self._error else nothing
            )
        elif here in self._spans:
            self.bar.set_result(ui_text("editor.find.found_at", number=self._spans.index(here) + 1, count=count))
        else:
            self.bar.set_result(ui_text("editor.find.found", count=count))
        self.bar.set_can_step(can_step=bool(self._spans))
        for button in (self.replace_button, self.all_button):
            button.setEnabled(bool(self._spans))


def _option(text: str, tip: str) -> QToolButton:
    return tool_button(text, tip, name=tip, checkable=True)


class SearchError(ValueError):
    """A search that cannot be carried out; the message says why."""


def occurrences(
    text: str, wanted: str, *, match_case: bool, whole_words: bool, is_regex: bool = False
) -> tuple[Span, ...]:
    """Return the matches of a text, without overlaps and without empty ones; at most `MOST`.

    Args:
        text: the text to search.
        wanted: the text to find.
        match_case: whether case matters.
        whole_words: whether a match must not be a part of a word.
        is_regex: whether `wanted` is a regular expression, which Qt searches: its steps are limited.

    Raises:
        SearchError: the regular expression is invalid, or exceeds the limit of steps.
    """
    if not wanted:
        return ()
    pattern = f"(?:{wanted})" if is_regex else re.escape(wanted)
    if whole_words:
        pattern = rf"(?<![\w-]){pattern}(?![\w-])"  # a rule's name may contain `-`
    if is_regex:
        return _regex_occurrences(text, wanted, pattern, match_case=match_case)
    found: list[Span] = []
    for match in re.finditer(pattern, text, 0 if match_case else re.IGNORECASE):
        found.append(Span(*match.span()))
        if len(found) == MOST:
            break
    return tuple(found)


def _regex_occurrences(text: str, wanted: str, pattern: str, *, match_case: bool) -> tuple[Span, ...]:
    option = QRegularExpression.PatternOption
    options = option.UseUnicodePropertiesOption | option.MultilineOption
    typed = QRegularExpression(wanted, options)
    if not typed.isValid():
        raise SearchError(ui_text("editor.find.invalid", reason=typed.errorString()))
    expression = QRegularExpression(pattern, options if match_case else options | option.CaseInsensitiveOption)
    offsets, found = Offsets(text), list[Span]()
    matches, last_end = expression.globalMatch(text), 0
    while matches.hasNext() and len(found) < MOST:
        match = matches.next()
        last_end = match.capturedEnd()
        if match.capturedLength():
            found.append(Span(*map(offsets.to_code_points, (match.capturedStart(), match.capturedEnd()))))
    if len(found) < MOST and not expression.match(text, last_end).isValid():
        raise SearchError(ui_text("editor.find.too_slow"))
    return tuple(found)
