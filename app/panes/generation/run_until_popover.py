"""*Run until…*: the goals of a run, in a popover that remembers the last choice."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QRadioButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text
from engine.decoding.debugging.breakpoints import StateName
from engine.decoding.debugging.run_until import Goal, RunUntil

_LEAST_FIELD = 190  # pixels
_NO_STATE = "select one in the automaton"
_CHOICES = {
    Goal.END: ("The end", "Until the generation ends, or you pause"),
    Goal.RULE_EXIT: (
        "A rule is over",
        "Until this rule, or this part of a schema, was read and is over",
    ),
    Goal.STATE: ("A state is reached", "Until the match comes to the state that is selected in the automaton"),
    Goal.TOKEN: ("A token is taken", "Its text, the name of a special token, or #id"),
    Goal.Z_BELOW: ("Z falls below", "Until the model gives the allowed tokens of the next step less than this"),
    Goal.EOS_LEGAL: ("The text may end", "Until an end token is allowed"),
    Goal.TOKENS: ("Number of tokens", "Run this many steps"),
}


class RunUntilPopover(QFrame):
    """Asks for the goal of a run.

    Signals:
        wanted(RunUntil): run until this goal.
    """

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "card")
        self.setAccessibleName("Run until")
        self._state: StateName | None = None
        self._state_label = ""
        self._rules: tuple[str, ...] = ()
        self.choices: dict[Goal, QRadioButton] = {}
        self._group = QButtonGroup(self)
        self.rule = QComboBox(editable=True)
        self.rule.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.state = Label(_NO_STATE)
        self.state.setProperty("role", "muted")
        self.token = QLineEdit(placeholderText="text or #id")
        self.z = QDoubleSpinBox(minimum=0.01, maximum=100.0, value=1.0, decimals=2, suffix=" %")
        self.count = QSpinBox(minimum=1, maximum=100_000, value=10)
        for number in (self.z, self.count):
            number.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.why_not = Label()
        self.why_not.setProperty("role", "muted")
        self.run = push_button("Run", "Run until then; a breakpoint stops it sooner", role="primary")
        self._build()
        self.run.clicked.connect(self._run)
        self._group.buttonToggled.connect(lambda _button, _on: self._enable())
        self.choices[Goal.END].setChecked(True)

    def show_rules(self, names: tuple[str, ...], refusal: str = "") -> None:
        """Offer these rules, or the parts of a schema; `refusal` says why there are none."""
        choice = self.choices[Goal.RULE_EXIT]
        for widget in (choice, self.rule):
            widget.setEnabled(not refusal)
            widget.setToolTip(plain_text(refusal or _CHOICES[Goal.RULE_EXIT][1]))
        if refusal and choice.isChecked():
            self.choices[Goal.END].setChecked(True)
        typed = self.rule.currentText()
        if self._rules != names and typed not in names:
            typed = ""  # another grammar's
        self._rules = names
        self.rule.clear()
        self.rule.addItems(names)
        self.rule.setCurrentText(typed if typed or not names else names[0])

    def show_state(self, state: StateName | None, label: str = "") -> None:
        """Offer the selected state; None if none is selected."""
        self._state, self._state_label = state, label
        self.state.setText(label or _NO_STATE)
        self._enable()

    def until(self) -> RunUntil | None:
        """Return the chosen goal with its parameters; None if a parameter is missing."""
        goal = self.goal
        match goal:
            case Goal.RULE_EXIT:
                name = self.rule.currentText().strip()
                return RunUntil(goal, name=name) if name else None
            case Goal.STATE:
                if self._state is None:
                    return None
                return RunUntil(goal, name=self._state[0], state=self._state[1], label=self._state_label)
            case Goal.TOKEN:
                return _token(self.token.text())
            case Goal.Z_BELOW:
                return RunUntil(goal, z=self.z.value() / 100)
            case Goal.TOKENS:
                return RunUntil(goal, count=self.count.value())
        return RunUntil(goal)

    @property
    def goal(self) -> Goal:
        """Return the chosen goal."""
        return next(goal for goal, button in self.choices.items() if button.isChecked())

    def open_under(self, widget: QWidget) -> None:
        """Open below a button."""
        self._enable()
        self.adjustSize()
        self.move(widget.mapToGlobal(QPoint(0, widget.height() + theme.SPACE_XS)))
        self.show()

    def showEvent(self, event: QShowEvent) -> None:
        """Focus the chosen goal."""
        super().showEvent(event)
        self.choices[self.goal].setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Run on Return."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run()
        else:
            super().keyPressEvent(event)

    def _build(self) -> None:
        title = Label("Run until")
        title.setProperty("role", "heading")
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_M)
        grid.setVerticalSpacing(theme.SPACE_S)
        fields = {
            Goal.RULE_EXIT: self.rule,
            Goal.STATE: self.state,
            Goal.TOKEN: self.token,
            Goal.Z_BELOW: self.z,
            Goal.TOKENS: self.count,
        }
        self.rule.editTextChanged.connect(self._enable)
        self.token.textEdited.connect(self._enable)
        typed = self.rule.lineEdit()
        assert typed is not None  # it is editable
        typed.setPlaceholderText("name, or /properties/…")
        typed.textEdited.connect(lambda _text: self.choices[Goal.RULE_EXIT].setChecked(True))
        self.rule.activated.connect(lambda _index: self.choices[Goal.RULE_EXIT].setChecked(True))
        self.token.textEdited.connect(lambda _text: self.choices[Goal.TOKEN].setChecked(True))
        self.z.valueChanged.connect(lambda _value: self.choices[Goal.Z_BELOW].setChecked(True))
        self.count.valueChanged.connect(lambda _value: self.choices[Goal.TOKENS].setChecked(True))
        self.token.returnPressed.connect(self._run)
        text_width = QFontMetrics(theme.ui_font()).horizontalAdvance(_NO_STATE)
        width = max(_LEAST_FIELD, text_width + theme.SPACE_M)
        foot = QHBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(title)
        layout.addLayout(grid)
        for row, (goal, (text, tip)) in enumerate(_CHOICES.items()):
            choice = QRadioButton(text)
            choice.setToolTip(plain_text(tip))
            self.choices[goal] = choice
            self._group.addButton(choice)
            grid.addWidget(choice, row, 0)
            if (field := fields.get(goal)) is not None:
                field.setFixedWidth(width)
                field.setToolTip(plain_text(tip))
                field.setAccessibleName(text)
                grid.addWidget(field, row, 1)
        layout.addLayout(foot)
        foot.addWidget(self.why_not, 1)
        foot.addWidget(self.run)

    def _enable(self) -> None:
        missing = self.until() is None
        self.run.setEnabled(not missing)
        self.why_not.setText(_missing(self.goal) if missing else "")

    def _run(self) -> None:
        until = self.until()
        if until is not None:
            self.hide()
            self.wanted.emit(until)


def _token(typed: str) -> RunUntil | None:
    number = typed.strip().removeprefix("#")
    if typed.strip().startswith("#") and number.isdecimal():
        return RunUntil(Goal.TOKEN, token_id=int(number[:9]), label=f"#{number}")
    return RunUntil(Goal.TOKEN, token=typed, label=f"“{typed}”") if typed else None


def _missing(goal: Goal) -> str:
    match goal:
        case Goal.STATE:
            return f"No state: {_NO_STATE}"
        case Goal.RULE_EXIT:
            return "Name a rule"
    return "Type a token"
