"""Go to definition, list references, and rename, for the names in an editor."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QMenu, QVBoxLayout

from app import theme
from app.actions import keys_of
from app.catalogue import ui_text
from app.display_text import unmarked
from app.panes.editor.code_edit import READ_AT_MOST, CodeEdit
from app.theme.labels import Label
from engine.notations.editing import Change, Name, name_at, offset_after_edits, rename
from engine.source import SourceText, Span

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

    def go_to_definition(self, offset: int | None = None) -> None:
        """Go to the definition of the name at an offset or at the cursor; from a definition, list the references."""
        at = self._edit.caret if offset is None else offset
        name = self._name_at(at)
        if name is None:
            return
        if not name.definitions:
            self._edit.say(unmarked(ui_text("editor.symbol.undefined", name=name.text)))
        elif any(span.start <= at <= span.end for span in name.definitions):
            self.list_references(at)
        else:
            self._edit.select(name.definitions[-1])  # the last of several definitions counts
            self._edit.setFocus()

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
            action = QAction(self._entry(source, span, is_definition=span in name.definitions), menu)
            action.triggered.connect(self._goer(span))
            action.hovered.connect(self._shower(span))
            menu.addAction(action)
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
            self._edit.say(unmarked(name.fixed))
            return
        text = self._edit.text()
        self._name = name
        self._edit.show_hover(name.occurrences)
        self.box.open(name.text, lambda new: rename(self._edit.notation, text, name, new), self._rename)

    def _rename(self, new: str) -> None:
        name, self._name = self._name, None
        self._edit.show_hover(())
        self._edit.setFocus()
        if name is None or not new:
            return
        changed = rename(self._edit.notation, self._edit.text(), name, new)
        self._edit.apply(changed.edits, offset_after_edits(self._edit.caret, changed.edits))

    def _name_at(self, offset: int) -> Name | None:
        text, notation = self._edit.text(), self._edit.notation
        if len(text) > READ_AT_MOST:
            self._edit.say(ui_text("editor.symbol.too_long", limit=READ_AT_MOST))
            return None
        name = name_at(notation, text, offset)
        if name is None:
            self._edit.say(ui_text(f"editor.symbol.none.{notation}"))
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

    def _goer(self, span: Span) -> Callable[[], None]:
        def go() -> None:
            self._edit.select(span)
            self._edit.setFocus()

        return go

    def _shower(self, span: Span) -> Callable[[], None]:
        return lambda: self._edit.show_hover((span,))


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
        self.says = Label()
        self.says.setProperty("role", "muted")
        self.says.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        layout.setSpacing(theme.SPACE_XS)
        layout.addWidget(self.field)
        layout.addWidget(self.says)
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
        keys = ui_text("editor.symbol.rename_keys", take=keys_of("rename.take"), cancel=keys_of("rename.cancel"))
        self.says.setText(unmarked(change.refusal or change.note) or keys)
        self.adjustSize()

    def _close(self, new: str) -> None:
        if self.isVisible():
            self.hide()
            self._done(new)
