"""The navigation bar of the automaton pane: back and forward, the breadcrumb, the levels."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QComboBox, QFrame, QHBoxLayout, QSizePolicy

from app import theme
from app.actions import set_tip
from app.panes.automaton.levels import Level, Levels
from app.panes.automaton.view_state import HERE, ViewState
from app.theme.buttons import tool_button
from app.theme.plain_text import plain_text
from app.widgets.elided_label import ElidedLabel

_PLAIN = "Drawn in the plain spelling, without white space", "Plain spelling, no white space", "Plain spelling", "Plain"
_NOT_DRAWN = "The text is spelled otherwise than drawn, so no state is lit."
_NOT_DRAWN_SHORTER = _NOT_DRAWN, "The text is spelled otherwise", "Spelled otherwise"
_MAPS = {"rule": "Rules", "region": "Regions", "state": "States"}


class LevelBar(QFrame):
    """Shows the current level, with buttons to go elsewhere.

    Signals:
        rule_wanted: the name of a rule or region to open; None for all of them.
        level_wanted: a `Level`.
        back_wanted, forward_wanted: the previous view, and the next one.
    """

    rule_wanted = Signal(object)
    level_wanted = Signal(object)
    back_wanted = Signal()
    forward_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        self.back_button = tool_button("←", name="Back")
        self.forward_button = tool_button("→", name="Forward")
        self.up_button = tool_button("‹ Rules")
        set_tip(self.back_button, "Back to what was shown before", "automaton.back")
        set_tip(self.forward_button, "Forward again", "automaton.forward")
        set_tip(self.up_button, "Show all rules", "automaton.up")
        self.rule_box = QComboBox()
        self.rule_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.rule_box.setMinimumContentsLength(9)
        self.rule_box.setMaximumWidth(220)
        self.rule_box.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.note = ElidedLabel(fills=True)
        self.note.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.rules_button = tool_button("Rules", "The map: what the grammar is made of", checkable=True)
        self.live_button = tool_button("Live", "The surroundings of the live state, byte by byte", checkable=True)
        self.tokens_button = tool_button("Tokens", checkable=True)
        of_which = "the tokens of the selected state, else of the live one"
        set_tip(self.tokens_button, f"Where the next token would lead: {of_which}", "automaton.tokens")
        self._choice = QButtonGroup(self)
        for button in (self.rules_button, self.live_button, self.tokens_button):
            self._choice.addButton(button)
        for button in (self.back_button, self.forward_button):
            button.setEnabled(False)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_XS, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_XS)
        for widget in (self.back_button, self.forward_button, self.up_button, self.rule_box):
            row.addWidget(widget)
        row.addWidget(self.note, 1)
        for button in (self.rules_button, self.live_button, self.tokens_button):
            row.addWidget(button)
        self.hide()
        self.back_button.clicked.connect(self.back_wanted)
        self.forward_button.clicked.connect(self.forward_wanted)
        self.up_button.clicked.connect(lambda: self.rule_wanted.emit(None))
        self.rule_box.activated.connect(self._choose)
        for button, level in (
            (self.rules_button, Level.MAP),
            (self.live_button, Level.PART),
            (self.tokens_button, Level.TOKENS),
        ):
            button.clicked.connect(lambda _on=True, level=level: self.level_wanted.emit(level))

    def show_levels(self, levels: Levels | None, view: ViewState, *, back: bool = False, forward: bool = False) -> None:
        """Show the current level and the other ones; `show_note` shows what is omitted.

        Args:
            levels: the automaton; None for none.
            view: the current view.
            back: whether there is a previous view.
            forward: whether there is a next view.
        """
        self.setVisible(levels is not None)
        if levels is None:
            return
        self.back_button.setEnabled(back)
        self.forward_button.setEnabled(forward)
        has_map, level = bool(levels.names), levels.level(view)
        self.rules_button.setText(_MAPS[levels.noun])
        self.live_button.setVisible(has_map)
        self.up_button.setVisible(has_map)
        self.rule_box.setVisible(has_map and level in (Level.MAP, Level.ONE))
        self.up_button.setText(f"‹ {_MAPS[levels.noun]}")
        set_tip(self.up_button, f"Show all {levels.noun}s", "automaton.up")
        self.up_button.setEnabled(level is not Level.MAP)
        self.rule_box.setAccessibleName(f"{levels.noun.capitalize()} that is shown")
        self.rule_box.setToolTip(plain_text(f"Choose a {levels.noun}; a double click on one opens it too"))
        if has_map:
            self._fill(levels, view)
        shown = {Level.TOKENS: self.tokens_button, Level.PART: self.live_button if has_map else self.rules_button}
        is_all = has_map and level is Level.PART and view.draws_all and not view.follows
        self._choice.setExclusive(False)  # if all states are drawn, no level is checked
        for button in self._choice.buttons():
            button.setChecked(not is_all and button is shown.get(level, self.rules_button))
        self._choice.setExclusive(True)

    def show_note(self, notes: tuple[str, ...], *, is_lost: bool) -> None:
        """Show what the drawing of the rules omits.

        Args:
            notes: one sentence each.
            is_lost: whether the text is omitted, so that there are no live states.
        """
        if not notes:
            self.note.set_text("")
            return
        in_full = " ".join(f"{note[0].upper()}{note[1:]}." for note in notes)
        if is_lost:
            self.note.set_text(f"{_NOT_DRAWN} {in_full}", *_NOT_DRAWN_SHORTER)
        else:
            self.note.set_text(in_full, *_PLAIN)

    def show_crumb(self, text: str, *shorter: str) -> None:
        """Say what part is shown, behind the breadcrumb."""
        self.note.set_text(text, *shorter)

    def _fill(self, levels: Levels, view: ViewState) -> None:
        noun = levels.noun
        all_of_them = f"One {noun}" if len(levels.names) == 1 else f"All {len(levels.names):,} {noun}s"
        names = [all_of_them, *levels.names]
        blocker = QSignalBlocker(self.rule_box)
        if [self.rule_box.itemText(row) for row in range(self.rule_box.count())] != names:
            self.rule_box.clear()
            self.rule_box.addItems(names)
        number = levels.number(view)
        self.rule_box.setCurrentIndex(0 if number is None else 1 + number)
        del blocker

    def _choose(self, row: int) -> None:
        self.rule_wanted.emit(None if row == 0 else self.rule_box.itemText(row))


def crumb(levels: Levels, view: ViewState) -> tuple[str, ...]:
    """Return the name of the current part, and shorter forms; nothing if the bar shows it already."""
    level = levels.level(view)
    if level is Level.TOKENS and levels.tokens is not None:
        name = "the live state" if view.tokens == HERE else f"state {view.tokens}"
        total = levels.tokens.total
        return f"Tokens of {name}: {total:,} allowed", f"{total:,} tokens"
    if view.centre is not None:
        return f"Around state {view.centre}", f"at {view.centre}"
    if level is Level.PART and levels.names and view.draws_all and not view.follows:
        return ("All states",)
    if level is Level.PART and levels.names:
        return "Around the live state", "Live"
    return ()
