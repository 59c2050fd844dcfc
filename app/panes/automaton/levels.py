"""Which automaton the pane shows: around the live state, all rules, or one of them; and the bar to choose it with."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QButtonGroup, QComboBox, QFrame, QHBoxLayout, QSizePolicy

from app import theme
from app.graph.layout import EdgeKey
from app.graph.rules import Chart, RuleCharts
from app.panes.automaton.drawing import Automaton, LabelOfEdge, View
from app.panes.automaton.labels import ElidedLabel
from app.panes.automaton.parts import compact_button
from engine.automata.rule_places import RulePlaces
from engine.source import SourceText

_NOWHERE = RulePlaces()
_PLAIN = "Drawn in the plain spelling, without white space", "Plain spelling, no white space", "Plain spelling"
_LOST = "The text is spelled otherwise than drawn, so no state is lit."
_LOST_SHORTER = _LOST, "The text is spelled otherwise", "Spelled otherwise"


class Levels:
    """What there is to show of one grammar: a part around the live state or all of it, and the rules if it has some."""

    def __init__(
        self,
        part: Chart,
        rules: RuleCharts | None,
        revision: int,
        label_of_edge: LabelOfEdge | None,
        source: SourceText | None,
    ) -> None:
        self.rules = rules
        self.revision = revision
        self._label = label_of_edge
        self._source = source
        self._part = Automaton(part, revision, label_of_edge, source)
        self._made: dict[str | None, Automaton] = {}

    def with_part(self, part: Chart) -> Levels:
        """The same rules around another live state."""
        levels = Levels(part, self.rules, self.revision, self._label, self._source)
        levels._made = self._made  # what is drawn of the rules stays as it is
        return levels

    def shows_rules(self, view: View) -> bool:
        """Whether the rules are shown, all or one of them."""
        return self.rules is not None and not view.follows

    def open_rule(self, view: View) -> int | None:
        """The number of the rule that is open."""
        if self.rules is None or view.follows or view.rule not in self.rules.names:
            return None
        return self.rules.names.index(view.rule)

    def automaton(self, view: View) -> Automaton:
        """What is shown."""
        if self.rules is None or view.follows:
            return self._part
        number = self.open_rule(view)
        name = None if number is None else view.rule
        if name not in self._made:
            if number is not None:
                self._made[name] = self._automaton(self.rules.rules[number])
            else:
                self._made[name] = self._automaton(
                    self.rules.together or self.rules.overview, "state" if self.rules.together else "rule"
                )
        return self._made[name]

    def live(
        self, view: View, states: frozenset[int], places: RulePlaces | None
    ) -> tuple[frozenset[int], frozenset[EdgeKey]]:
        """The states of what is shown where the match stands, and the edges whose calls are under way.

        Args:
            view: what the reader wants to see.
            states: of the part around the live state.
            places: in the rules.
        """
        if self.rules is None or view.follows:
            return states, frozenset()
        found, number = places or _NOWHERE, self.open_rule(view)
        calls = self.automaton(view).chart.calls
        if number is None and self.rules.together is None:
            return frozenset(rule for rule, _ in found.reading), frozenset(
                (rule, called) for rule, _, called in found.waiting
            )
        firsts = self.rules.firsts if number is None else (0,) * len(self.rules.names)
        open_rules = range(len(self.rules.names)) if number is None else (number,)
        waiting = {(firsts[rule] + state, called) for rule, state, called in found.waiting if rule in open_rules}
        return (
            frozenset(firsts[rule] + state for rule, state in found.reading if rule in open_rules),
            frozenset(key for key, called in calls.items() if any((key[0], rule) in waiting for rule in called)),
        )

    def rule_at(self, view: View, state: int | None, edge: EdgeKey | None, group: int | None) -> str | None:
        """The rule that something in the drawing leads to: the one called, the one in the box."""
        if self.rules is None or view.follows:
            return None
        chart = self.automaton(view).chart
        if edge is not None and edge in chart.calls:
            return self.rules.names[chart.calls[edge][0]]
        if self.open_rule(view) is not None:
            return None
        if self.rules.together is None:
            return None if state is None else self.rules.names[state]
        if state is not None:
            return next(title for title, states in chart.groups if state in states)
        return None if group is None else chart.groups[group][0]

    def _automaton(self, chart: Chart, noun: str = "state") -> Automaton:
        assert self.rules is not None
        # Rules with notes are those of a schema, which nobody wrote: their states stand where the rule does.
        tells_reads = not self.rules.notes
        return Automaton(chart, self.revision, self._label, self._source, noun=noun, tells_reads=tells_reads)


class LevelBar(QFrame):
    """Breadcrumb and choice: rules, which of them, or what is around the live state. Hidden where there are no rules.

    Signals:
        rule_wanted: the name of a rule to open; None for all of them.
        follow_toggled: whether the surroundings of the live state are to be drawn instead.
    """

    rule_wanted = Signal(object)
    follow_toggled = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        self.up_button = compact_button("‹ Rules", "Show all rules (Backspace)")
        self.rule_box = QComboBox()
        self.rule_box.setAccessibleName("Rule that is shown")
        self.rule_box.setToolTip("Choose a rule; a double click on one opens it too")
        self.rule_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.rule_box.setMaximumWidth(220)
        self.rule_box.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.note = ElidedLabel()
        self.rules_button = compact_button("Rules", "Draw an automaton for each rule", checkable=True)
        self.live_button = compact_button("Live", "Draw what surrounds the live state", checkable=True)
        choice = QButtonGroup(self)
        for button in (self.rules_button, self.live_button):
            choice.addButton(button)
        self.rules_button.setChecked(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_XS, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_XS)
        row.addWidget(self.up_button)
        row.addWidget(self.rule_box)
        row.addWidget(self.note, 1)
        row.addWidget(self.rules_button)
        row.addWidget(self.live_button)
        self.hide()
        self.up_button.clicked.connect(lambda: self.rule_wanted.emit(None))
        self.rule_box.activated.connect(self._choose)
        self.live_button.toggled.connect(self.follow_toggled)

    def show_levels(self, levels: Levels | None, view: View) -> None:
        """Show where one is, and what else there is; `show_note` tells what is left out."""
        rules = None if levels is None else levels.rules
        self.setVisible(rules is not None)
        if levels is None or rules is None:
            return
        blockers = [QSignalBlocker(widget) for widget in (self.rule_box, self.live_button, self.rules_button)]
        whole = "One rule" if len(rules.names) == 1 else f"All {len(rules.names):,} rules"
        names = [whole, *rules.names]
        if [self.rule_box.itemText(row) for row in range(self.rule_box.count())] != names:
            self.rule_box.clear()
            self.rule_box.addItems(names)
        number = levels.open_rule(view)
        self.rule_box.setCurrentIndex(0 if number is None else 1 + number)
        self.up_button.setEnabled(number is not None)
        for widget in (self.up_button, self.rule_box):
            widget.setVisible(not view.follows)
        (self.live_button if view.follows else self.rules_button).setChecked(True)
        del blockers

    def show_note(self, notes: tuple[str, ...], *, is_lost: bool) -> None:
        """Say what the drawing of the rules leaves out.

        Args:
            notes: a sentence each.
            is_lost: whether the text is among it, so that nothing can be lit.
        """
        if not notes:
            self.note.say("")
            return
        in_full = " ".join(f"{note[0].upper()}{note[1:]}." for note in notes)
        if is_lost:
            self.note.say(f"{_LOST} {in_full}", *_LOST_SHORTER)
        else:
            self.note.say(in_full, *_PLAIN)

    def _choose(self, row: int) -> None:
        self.rule_wanted.emit(None if row == 0 else self.rule_box.itemText(row))
