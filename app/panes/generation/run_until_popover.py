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
from app.catalogue import ui_text
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text
from engine.decoding.debugging.breakpoints import StateName
from engine.decoding.debugging.run_until import Goal, RunUntil

_LEAST_FIELD = 190  # pixels
_CHOICES = Goal.END, Goal.RULE_EXIT, Goal.STATE, Goal.TOKEN, Goal.Z_BELOW, Goal.EOS_LEGAL, Goal.TOKENS


class RunUntilPopover(QFrame):
    """Asks for the goal of a run.

    Signals:
        wanted(RunUntil): run until this goal.
    """

    wanted = Signal(RunUntil)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "card")
        self.setAccessibleName(ui_text("generation.run_until.name"))
        self._state: StateName | None = None
        self._state_label = ""
        self._rules: tuple[str, ...] = ()
        self.choices: dict[Goal, QRadioButton] = {}
        self._group = QButtonGroup(self)
        self.rule = QComboBox(editable=True)
        self.rule.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.state = Label(ui_text("generation.run_until.no_state"))
        self.state.setProperty("role", "muted")
        self.token = QLineEdit(placeholderText=ui_text("generation.run_until.token_hint"))
        self.z = QDoubleSpinBox(minimum=0.01, maximum=100.0, value=1.0, decimals=2, suffix=" %")
        self.count = QSpinBox(minimum=1, maximum=100_000, value=10)
        for number in (self.z, self.count):
            number.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.why_not = Label()
        self.why_not.setProperty("role", "muted")
        self.run = push_button(
            ui_text("generation.run_until.run"),
            ui_text("generation.run_until.run_tip"),
            role="primary",
            clicked=self._run,
        )
        self._build()
        self._group.buttonToggled.connect(lambda _button, _on: self._enable())
        self.choices[Goal.END].setChecked(True)

    def show_rules(self, names: tuple[str, ...], refusal: str = "") -> None:
        """Offer these rules, or the parts of a schema; `refusal` says why there are none."""
        choice = self.choices[Goal.RULE_EXIT]
        for widget in (choice, self.rule):
            widget.setEnabled(not refusal)
            widget.setToolTip(plain_text(refusal or _tip(Goal.RULE_EXIT)))
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
        self.state.setText(label or ui_text("generation.run_until.no_state"))
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
        title = Label(ui_text("generation.run_until.name"))
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
        typed.setPlaceholderText(ui_text("generation.run_until.rule_hint"))
        typed.textEdited.connect(lambda _text: self.choices[Goal.RULE_EXIT].setChecked(True))
        self.rule.activated.connect(lambda _index: self.choices[Goal.RULE_EXIT].setChecked(True))
        self.token.textEdited.connect(lambda _text: self.choices[Goal.TOKEN].setChecked(True))
        self.z.valueChanged.connect(lambda _value: self.choices[Goal.Z_BELOW].setChecked(True))
        self.count.valueChanged.connect(lambda _value: self.choices[Goal.TOKENS].setChecked(True))
        self.token.returnPressed.connect(self._run)
        text_width = QFontMetrics(theme.ui_font()).horizontalAdvance(ui_text("generation.run_until.no_state"))
        width = max(_LEAST_FIELD, text_width + theme.SPACE_M)
        foot = QHBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(title)
        layout.addLayout(grid)
        for row, goal in enumerate(_CHOICES):
            choice = QRadioButton(ui_text(f"generation.run_until.goal.{goal.name.lower()}"))
            choice.setToolTip(plain_text(_tip(goal)))
            self.choices[goal] = choice
            self._group.addButton(choice)
            grid.addWidget(choice, row, 0)
            if (field := fields.get(goal)) is not None:
                field.setFixedWidth(width)
                field.setToolTip(plain_text(_tip(goal)))
                field.setAccessibleName(choice.text())
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


def _tip(goal: Goal) -> str:
    return ui_text(f"generation.run_until.tip.{goal.name.lower()}")


def _missing(goal: Goal) -> str:
    """Return what to enter for a goal that lacks its parameter."""
    match goal:
        case Goal.STATE:
            return ui_text("generation.run_until.no_state")
        case Goal.RULE_EXIT:
            return ui_text("generation.run_until.no_rule")
    return ui_text("generation.run_until.no_token")
