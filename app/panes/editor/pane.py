"""The editor pane: a bar with the notation and the cursor's position, the text, quick fixes, and symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QTextOption
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QMenu, QToolButton, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.commands import command, keys_of, local_key
from app.display_text import unmarked
from app.panes.editor.code_edit import MAX_PARSED_LENGTH, CodeEdit
from app.panes.editor.completer import Completer
from app.panes.editor.explanation import ExplanationPage
from app.panes.editor.find_replace import FindReplace
from app.panes.editor.highlighter import LONGEST_LINE
from app.panes.editor.offsets import Offsets
from app.panes.editor.pages import Pages
from app.theme.buttons import give_menu, icon_button
from app.theme.labels import Label, plain_text
from app.widgets.banner import Banner
from app.widgets.keyboard import CloseOnEscape, delegate_focus
from app.widgets.lazy import Lazy
from app.workers.requests.compile import FormatAnswer
from engine.diagnosis.fixes import Fix, fixes
from engine.notations import NOTATIONS
from engine.notations.editing import Change, Edit, Name, name_at, offset_after_edits
from engine.notations.editing.edits import offset_after_formatting
from engine.source import Diagnostic, SourceText, Span

if TYPE_CHECKING:
    from app.panes.editor.reference import ReferencePage

_TAKE, _CANCEL = local_key("rename.take", "Return"), local_key("rename.cancel", "Esc")
_MOST_LISTED = 30
_LONGEST_LINE = 60


class SymbolNavigation(QObject):
    """Definitions, references and renaming for an editor."""

    def __init__(self, edit: CodeEdit) -> None:
        super().__init__(edit)
        self._edit = edit
        self._name: Name | None = None
        self.box = RenameBox(edit)
        edit.definition_wanted.connect(self.go_to_definition)

    @command("edit.definition", "F12", place=(4, 1), context="editor")
    def go_to_definition(self, offset: int | None = None) -> None:
        """Go to the definition of the name at an offset or at the cursor; from a definition, list the references."""
        at = self._edit.caret if offset is None else offset
        name = self._name_at(at)
        if name is None:
            return
        if not name.definitions:
            self._edit.show_tip(unmarked(ui_text("editor.symbol.undefined", name=name.text)))
        elif any(span.start <= at <= span.end for span in name.definitions):
            self.list_references(at)
        else:
            self._edit.select(name.definitions[-1])  # the last of several definitions counts
            self._edit.setFocus()

    @command("edit.references", "Shift+F12", place=(4, 2), context="editor")
    def list_references(self, offset: int | None = None) -> None:
        """List the definitions and uses of the name at the cursor; choosing an entry selects it."""
        name = self._name_at(self._edit.caret if offset is None else offset)
        if name is None:
            return
        menu = self.menu_of(name)
        menu.popup(self._edit.viewport().mapToGlobal(self._edit.cursorRect().bottomLeft()))

    def menu_of(self, name: Name) -> QMenu:
        """Return a menu with an entry for each occurrence of a name."""
        menu = QMenu(self._edit)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setAccessibleName(ui_text("editor.symbol.references", name=name.text))
        title = ui_text("editor.symbol.uses", name=name.text, count=len(name.uses))
        heading = menu.addAction(title.replace("&", "&&"))
        heading.setEnabled(False)
        menu.addSeparator()
        source = SourceText(self._edit.text())
        for span in name.occurrences[:_MOST_LISTED]:
            text = self._entry(source, span, is_definition=span in name.definitions)
            action = menu.addAction(text, partial(self._go_to, span))
            action.hovered.connect(partial(self._edit.show_hover, (span,)))
        if len(name.occurrences) > _MOST_LISTED:
            more = ui_text("common.fragment.and_more", count=len(name.occurrences) - _MOST_LISTED)
            menu.addAction(more).setEnabled(False)
        menu.aboutToHide.connect(lambda: self._edit.show_hover(()))
        if len(menu.actions()) > 2:
            menu.setActiveAction(menu.actions()[2])
        return menu

    def begin_rename(self) -> None:
        """Ask for a new name of the symbol at the cursor."""
        name = self._name_at(self._edit.caret)
        if name is None:
            return
        if name.fixed:
            self._edit.show_tip(unmarked(name.fixed))
            return
        text = self._edit.text()
        self._name = name
        self._edit.show_hover(name.occurrences)
        self.box.open(name.text, lambda new: NOTATIONS[self._edit.notation].rename(text, name, new), self._rename)

    def _rename(self, new: str) -> None:
        name, self._name = self._name, None
        self._edit.show_hover(())
        self._edit.setFocus()
        if name is None or not new:
            return
        changed = NOTATIONS[self._edit.notation].rename(self._edit.text(), name, new)
        self._edit.apply(changed.edits, offset_after_edits(self._edit.caret, changed.edits))

    def _name_at(self, offset: int) -> Name | None:
        text, notation = self._edit.text(), self._edit.notation
        if len(text) > MAX_PARSED_LENGTH:
            self._edit.show_tip(ui_text("editor.symbol.too_long", limit=MAX_PARSED_LENGTH))
            return None
        name = name_at(NOTATIONS[notation].names(text), offset)
        if name is None:
            self._edit.show_tip(ui_text(f"editor.symbol.none.{notation}"))
        return name

    def _entry(self, source: SourceText, span: Span, *, is_definition: bool) -> str:
        line, column = source.line_column(span.start)
        start = source.text.rfind("\n", 0, span.start) + 1
        end = source.text.find("\n", span.start)
        line_text = source.text[start : len(source.text) if end < 0 else end]
        shown = line_text.strip()
        if len(shown) > _LONGEST_LINE:
            from_here = max(0, span.start - start - _LONGEST_LINE // 3)
            cut = line_text[from_here : from_here + _LONGEST_LINE].strip()
            shown = f"{'…' if from_here else ''}{cut}…"
        kind = ui_text("editor.symbol.fragment.defined" if is_definition else "editor.symbol.fragment.used")
        return f"{line}:{column}  {kind}  {shown}".replace("&", "&&").replace("\t", " ")

    def _go_to(self, span: Span) -> None:
        self._edit.select(span)
        self._edit.setFocus()


class RenameBox(QFrame):
    """A field over the text, at the symbol; an error in the new name is shown below it."""

    def __init__(self, edit: CodeEdit) -> None:
        super().__init__(edit.viewport())
        self._edit = edit
        self._preview: Callable[[str], Change] = lambda _new: Change()
        self._done: Callable[[str], None] = lambda _new: None
        self.setProperty("role", "card")
        self.field = QLineEdit()
        self.field.setAccessibleName(ui_text("editor.symbol.new_name"))
        self.field.setMinimumWidth(240)
        self.field.installEventFilter(self)
        self.note_label = Label()
        self.note_label.setProperty("role", "muted")
        self.note_label.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        layout.setSpacing(theme.SPACE_XS)
        layout.addWidget(self.field)
        layout.addWidget(self.note_label)
        self.field.textChanged.connect(self._check)
        self.hide()

    def open(self, name: str, preview: Callable[[str], Change], done: Callable[[str], None]) -> None:
        """Ask for a name.

        Args:
            name: the current name.
            preview: returns what a new name would change, or why it is refused.
            done: takes the new name; an empty one if nothing is renamed.
        """
        self._preview, self._done = preview, done
        self.field.setFont(self._edit.font())
        self.field.setText(name)
        self.field.selectAll()
        self._check(name)
        self.adjustSize()
        position = self._edit.cursorRect().bottomLeft()
        available = self._edit.viewport().rect()
        below = position.y() + theme.SPACE_XS
        above = self._edit.cursorRect().top() - self.height() - theme.SPACE_XS
        y = below if below + self.height() <= available.height() or above < 0 else above
        self.move(max(0, min(position.x(), available.width() - self.width())), y)
        self.show()
        self.raise_()
        self.field.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Rename on Return; cancel on Escape and on loss of focus."""
        if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()  # otherwise the window's Escape command would run
                return True
            if event.type() == QEvent.Type.KeyPress:
                self._close("")
                return True
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
                if not self._preview(self.field.text()).refusal:
                    self._close(self.field.text())
                return True
        elif event.type() == QEvent.Type.FocusOut and self.isVisible():
            self._close("")
        return super().eventFilter(watched, event)

    def _check(self, new: str) -> None:
        change = self._preview(new)
        keys = ui_text("editor.symbol.rename_keys", take=keys_of(_TAKE), cancel=keys_of(_CANCEL))
        self.note_label.setText(unmarked(change.refusal or change.note) or keys)
        self.adjustSize()

    def _close(self, new: str) -> None:
        if self.isVisible():
            self.hide()
            self._done(new)


class EditorPane(QWidget):
    """Edits a grammar's text.

    Signals:
        text_edited: the text, after the user changed it.
        switched(text, choice): the notation or its options changed, maybe by undo or redo, and the text may have
        changed, too.
        offset_hovered: the code point under the pointer, -1 for none.
        breakpoint_wanted: the code point at the start of a line whose number was clicked.
    """

    breakpoint_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.edit = CodeEdit()
        self.completer = Completer(self.edit)
        self.quick_fixes = QuickFixMenu(self.edit)
        self.symbols = SymbolNavigation(self.edit)
        self.find_replace = FindReplace(self.edit)
        self.find_bar = self.find_replace.bar
        self.notation_hint = Banner("hint", closable=True)
        self.notation_hint.button.setToolTip(ui_text("editor.header.hint_tip"))
        self.line_hint = Banner("hint")
        self.line_hint.setObjectName("line_hint")
        self.pages = Pages(self.edit)
        self.explanation = Lazy(self._make_explanation)
        self.pages.add_page(self.explanation, ui_text("editor.explanation.name"))
        self.reference = Lazy(self._make_reference)
        self.pages.add_page(self.reference, ui_text("editor.reference.title"))
        delegate_focus(self, self.edit)
        CloseOnEscape(self, self.find_bar.isVisible, self.find_bar.close_bar)
        bar = QFrame()
        bar.setProperty("role", "bar")
        title = Label(ui_text("common.word.grammar"))
        title.setProperty("role", "heading")
        self.notation_label = Label()
        self.notation_label.setProperty("role", "muted")
        self._position_label = Label()
        self._position_label.setProperty("role", "muted")
        self._position_label.setToolTip(ui_text("editor.header.position_tip"))
        self.more_button = icon_button(
            "ph.dots-three-vertical", ui_text("common.button.more"), ui_text("editor.header.more_tip")
        )
        self.more_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more_button.hide()  # until there is a menu
        row = QHBoxLayout(bar)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(title)
        row.addWidget(self.notation_label)
        row.addStretch(1)
        row.addWidget(self._position_label)
        row.addWidget(self.more_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (bar, self.find_bar, self.notation_hint, self.line_hint):
            layout.addWidget(widget)
        layout.addWidget(self.pages, 1)

        self.text_edited = self.edit.edited
        self.switched = self.edit.switched
        self.offset_hovered = self.edit.offset_hovered
        self._connect()
        self.set_notation("regex")
        self._show_position()

    def _connect(self) -> None:
        self.edit.cursorPositionChanged.connect(self._show_position)
        self.edit.textChanged.connect(self._update_line_hint)
        self.edit.gutter.line_clicked.connect(self._emit_breakpoint_wanted)
        theme.themes.changed.connect(self.edit.recolour)

    def _make_explanation(self) -> ExplanationPage:
        page = ExplanationPage(self.text)
        page.pointed.connect(self.show_hover)
        page.span_wanted.connect(self.go_to)
        page.focus_left.connect(self.edit.setFocus)
        self.edit.offset_hovered.connect(page.point_at)
        self.edit.cursorPositionChanged.connect(lambda: page.select_at(self.edit.caret))
        return page

    def _make_reference(self) -> ReferencePage:
        from app.panes.editor.reference import ReferencePage  # loads the JSON Schema compiler: 200 ms

        page = ReferencePage()
        page.chosen.connect(self.insert)
        page.focus_left.connect(self.edit.setFocus)
        return page

    def _update_line_hint(self) -> None:
        """Offer to format a text that is too long for a line to be highlighted or folded."""
        is_crammed = len(self.text()) > LONGEST_LINE * self.edit.blockCount()
        is_wanted = is_crammed and NOTATIONS[self.edit.notation].describes_json
        if not is_wanted and self.line_hint.text():
            self.line_hint.set_text("")
        elif is_wanted and not self.line_hint.text():
            self.line_hint.show_message(ui_text("editor.text.one_line"), button=ui_text("editor.text.format"))

    def toggle_explanation(self) -> None:
        """Show or hide the explanation; the text keeps the focus."""
        self.pages.toggle(self.explanation)

    def toggle_reference(self) -> None:
        """Show or hide the reference, with the focus in its filter."""
        self.pages.toggle(self.reference)
        if self.pages.current is self.reference.built:
            self.reference.get().field.setFocus()

    def set_menu(self, menu: QMenu) -> None:
        """Set the menu of the pane, whose actions are also in the context menu of the text."""
        give_menu(self.more_button, menu)
        self.more_button.show()
        self.edit.fill_menu = self._fill_menu

    def show_formatted(self, answer: FormatAnswer, text: str) -> None:
        """Format the text, as one undo step; the cursor stays after the same characters."""
        if self.text() != text:
            self.edit.show_tip(ui_text("editor.text.changed_since"))
        elif answer.change.refusal:
            self.edit.show_tip(unmarked(answer.change.refusal))
        else:
            self.edit.apply(answer.change.edits, offset_after_formatting(text, answer.after, self.edit.caret))

    def insert(self, text: str, caret: int) -> None:
        """Insert a text at the cursor and put the cursor at an offset in it; the selection moves there, too."""
        selected = self.edit.selection
        kept = self.text()[selected.start : selected.end] if caret < len(text) else ""
        written = text[:caret] + kept + text[caret:]
        self.edit.apply((Edit(selected, written),), selected.start + caret + len(kept))
        self.edit.setFocus()

    @command("edit.comment", "Ctrl+Shift+/", "Ctrl+#", place=(5, 1), context="editor")
    def toggle_comment(self) -> None:
        """Comment the selected lines out, or uncomment them."""
        changed = NOTATIONS[self.edit.notation].toggle_comment(self.text(), self.edit.selection)
        if changed.refusal:
            self.edit.show_tip(unmarked(changed.refusal))
        else:
            self.edit.apply(changed.edits, offset_after_edits(self.edit.caret, changed.edits))

    @command("edit.fold", "Ctrl+Shift+[", place=(5, 7), context="editor")
    def toggle_fold(self) -> None:
        """Fold the line at the cursor, or unfold it."""
        self.edit.folding.toggle(self.edit.textCursor().block())

    @command("edit.fold_all", "Ctrl+L, [", place=(5, 8), context="editor")
    def fold_all(self) -> None:
        """Fold all lines."""
        self.edit.folding.fold_all()

    @command("edit.unfold_all", "Ctrl+L, ]", place=(5, 9), context="editor")
    def unfold_all(self) -> None:
        """Unfold all lines."""
        self.edit.folding.unfold_all()

    @command("edit.bracket", "Ctrl+B", place=(5, 3), context="editor")
    def go_to_bracket(self) -> None:
        """Go to the partner of the bracket at the cursor."""
        pair = self.edit.bracket_pair()
        if pair:
            self.edit.select(Span(pair[1], pair[1]))
        else:
            self.edit.show_tip(ui_text("editor.text.no_bracket"))

    def _fill_menu(self, menu: QMenu, offset: int) -> None:
        first = menu.actions()[0] if menu.actions() else None
        fixes = self.quick_fixes.actions_at(offset, menu)
        if first is not None and fixes:
            menu.insertActions(first, fixes)
            menu.insertSeparator(first)
        own = self.more_button.menu()
        if own is not None:
            menu.addSeparator()
            menu.addActions(own.actions())

    def text(self) -> str:
        """Return the grammar's text."""
        return self.edit.text()

    def show_breakpoints(self, places: Iterable[tuple[int, bool]]) -> None:
        """Mark the lines of breakpoints: pairs of a code point, and whether it is enabled."""
        text = self.text()
        lines: dict[int, bool] = {}
        for offset, is_on in places:
            line = text.count("\n", 0, offset)
            lines[line] = lines.get(line, False) or is_on
        self.edit.gutter.show_breakpoints(lines)

    def _emit_breakpoint_wanted(self, line: int) -> None:
        lines = self.text().split("\n")
        if line < len(lines):
            line_start = sum(len(before) + 1 for before in lines[:line])
            self.breakpoint_wanted.emit(line_start + len(lines[line]) - len(lines[line].lstrip()))

    @property
    def cursor_offset(self) -> int:
        """Return the cursor's position in code points."""
        return self.edit.caret

    def set_text(self, text: str, choice: object = None, notation: str = "") -> None:
        """Show another text; this is not an edit: nothing is emitted, and it cannot be undone.

        Args:
            text: the text.
            choice: its notation and options, which `switched` emits, also after undo and redo.
            notation: what it is highlighted as; empty for the notation of the text before.
        """
        if notation and notation != self.edit.notation:
            self.edit.set_text("")  # the text before is not read as this notation
            self.set_notation(notation)
        self.edit.set_text(text, choice)

    def switch(self, choice: object, text: str | None = None) -> None:
        """Change the notation, and the text if given: an edit, which is one undo step.

        Args:
            choice: the notation, which `switched` emits, also after undo and redo.
            text: the new text; None to keep the old one.
        """
        self.edit.switch(choice, text)

    def set_notation(self, notation: str) -> None:
        """Highlight the text as this notation."""
        if notation == self.edit.notation:
            return
        found = NOTATIONS[notation]
        self.notation_label.setText(found.title)
        self.edit.setPlaceholderText(found.placeholder)
        self.edit.notation = notation
        self.edit.typing_keys.set_notation(notation)
        self.edit.hanging.is_on = not found.is_expression
        self.edit.set_lexer(found.lex_line, found.resume_at)
        wrap = QTextOption.WrapMode
        self.edit.setWordWrapMode(wrap.WrapAnywhere if found.wraps_anywhere else wrap.WrapAtWordBoundaryOrAnywhere)

    def show_diagnostics(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        """Underline the findings, with signs in the gutter."""
        self.edit.show_diagnostics(diagnostics)

    def show_live(self, spans: tuple[Span, ...]) -> None:
        """Mark the live positions."""
        self.edit.show_live(spans)

    def show_hover(self, spans: tuple[Span, ...]) -> None:
        """Mark the spans of an element that is hovered in another pane."""
        self.edit.show_hover(spans)

    def show_span(self, span: Span) -> None:
        """Scroll to a span and highlight it; cursor and focus stay."""
        self.edit.bring_into_view(span)
        self.edit.show_hover((span,))

    def point_to(self, span: Span) -> None:
        """Move the cursor to the start of a span, highlight the span, and take the focus.

        Nothing is selected, since typing would replace a selection.
        """
        self.edit.select(Span(span.start, span.start))
        self.edit.show_hover((span,))
        self.edit.setFocus()

    def go_to(self, span: Span) -> None:
        """Select a span, scroll to it, and take the focus."""
        self.edit.select(span)
        self.edit.setFocus()

    def _show_position(self) -> None:
        cursor = self.edit.textCursor()
        column = Offsets(cursor.block().text()).to_code_points(cursor.positionInBlock())
        self._position_label.setText(f"{cursor.blockNumber() + 1}:{column + 1}")


class QuickFixMenu(QObject):
    """Offers the fixes of an editor's findings."""

    def __init__(self, edit: CodeEdit) -> None:
        super().__init__(edit)
        self._edit = edit
        edit.fix_text = self.fix_text

    def open(self) -> None:
        """Apply the fix at the cursor or on its line; open a menu if there are several."""
        findings = self._findings_at(self._edit.caret)
        if not findings and self._edit.diagnostics and not self._edit.current_diagnostics:
            self._edit.show_tip(ui_text("editor.fix.waiting"))
        else:
            self._offer(findings, self._edit.cursorRect().bottomLeft())

    def open_for(self, finding: Diagnostic) -> None:
        """Apply the fix of one finding, or open a menu."""
        if finding in self._edit.current_diagnostics:
            self._edit.select(finding.span)
            self._edit.setFocus()
            self._offer([finding], self._edit.cursorRect().bottomLeft())

    def fix_text(self, finding: Diagnostic) -> str:
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
        menu.setAccessibleName(ui_text("editor.fix.name"))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        actions = list(self._actions(findings, menu))
        if not actions:
            menu.deleteLater()
            self._edit.show_tip(ui_text("editor.fix.none" if findings else "editor.fix.no_problem"))
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
