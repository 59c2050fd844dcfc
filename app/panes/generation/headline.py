"""The headline of a step: what the grammar allows, its probability under the model, and the model's favourite."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.display_text import candidate_text, context_full, count, duration, percent, shown, unmarked
from app.panes.generation.processors_format import budget_line
from app.theme.labels import Label, plain_text
from app.widgets.rich_text import code, words
from app.widgets.stable_widget import StableWidget
from app.widgets.token_paint import tabular
from engine.decoding.values import Candidate, EosState, Finish, Position
from engine.diagnosis.verdicts.verdict import CompletionBudget, ReplayedTokenState, Verdict

Role = theme.Role
_FEW_TOKENS = 32  # the distance to the end of the model's context at which it is reported


@dataclass(frozen=True, slots=True)
class HeadlinePart:
    """A piece of a headline.

    Attributes:
        text: the text.
        is_code: whether it is a token.
        strong: whether it contains the number or the verdict.
        struck: whether it is a forbidden token.
        role: its colour.
    """

    text: str
    is_code: bool = False
    strong: bool = False
    struck: bool = False
    role: Role = Role.TEXT

    def html(self) -> str:
        """Return the piece as HTML."""
        if self.is_code:
            return code(self.text, self.role, struck=self.struck)
        return words(self.text, self.role, strong=self.strong)


Parts = tuple[HeadlinePart, ...]


def headline_of(position: Position, *, has_model: bool = True) -> Parts:
    """Return the headline of a position.

    Args:
        position: the position.
        has_model: whether the probabilities are a model's; a tokenizer alone has none.
    """
    if position.finish is not None:
        return _finished(position)
    if position.allowed == 0:
        return (
            HeadlinePart("Dead end", strong=True, role=Role.ERROR),
            HeadlinePart(": no token of this vocabulary may come next"),
        )
    if position.emptied_by:
        return (
            HeadlinePart("No token can be drawn", strong=True, role=Role.ERROR),
            HeadlinePart(f": the stage “{position.emptied_by}” removes all that the stages before it leave"),
        )
    if position.forced:
        return _forced(position, has_model=has_model)
    allowed = HeadlinePart(f"{position.allowed:,}", strong=True)
    if not has_model or position.z is None:
        drawn = "" if has_model else " · no model: all tokens equally likely"
        return (allowed, HeadlinePart(f" of {position.vocabulary_size:,} allowed{drawn}"))
    return (
        allowed,
        HeadlinePart(f" of {position.vocabulary_size:,} allowed · allowed mass "),
        HeadlinePart(percent(position.z), strong=True),
        *_wanted(position.wanted),
    )


def second_line_of(position: Position) -> str:
    """Return the second line: whether the output may end, what must follow, and what to do at a dead end."""
    if position.finish is Finish.DEAD_END:
        return _dead_end_hint(position)
    if position.finish is not None:
        return ""
    facts = []
    if position.eos is EosState.NO_EOS:
        facts.append("✓ Matches so far" if position.accepting else "Not complete yet")
    else:
        facts.append("✓ It may end here" if position.eos is EosState.ALLOWED else "Not complete: it may not end here")
    if position.forced_bytes and not position.forced:
        facts.append(f"it must continue with “{shown(position.forced_bytes)}”")
    if position.parts:
        facts.append(f"in {' or '.join(f'the {part}' for part in position.parts)}")
    context = position.context
    if position.budget is not None:
        limit = "context" if context is not None and context.left == position.budget.left else "budget"
        facts.append(f"{limit}: {budget_line(position.budget)}")
    elif context is not None and context.left <= _FEW_TOKENS:
        facts.append(f"the model's context takes {count(context.left, 'more token')}")
    return " · ".join(facts)


def assessment_of(position: Position, verdict: Verdict) -> tuple[str, bool]:
    """Return why the output ended, or how far its end is; and whether that is a warning."""
    if position.finish is Finish.STOP:
        return _why_stopped(verdict), False
    if position.finish is Finish.DEAD_END and verdict.ending is not None and verdict.ending.is_dead_end:
        return _dead_end_hint(position), True
    if position.finish is not None:
        return " ".join((unmarked(verdict.sentence), *map(unmarked, verdict.notes[:1]))), not verdict.is_complete
    if verdict.failure is not None:
        return unmarked(verdict.sentence), True
    facts, is_warning = [second_line_of(position)], False
    ending = verdict.ending
    if ending is not None and not position.accepting and position.budget is None:
        how_far, is_warning = _how_far(ending)
        facts.append(how_far)
    circle = next((one for one in verdict.loops if one.at_end), None)
    if circle is not None:
        first, last = circle.range
        what = "white space" if circle.blank else "itself"
        facts.append(f"it loops: the last {last - first:,} bytes repeat {what}")
        is_warning = True
    if verdict.divergence is not None:
        facts.append(f"the tokenizer encodes it differently from token {verdict.divergence.token + 1:,} on")
    return " · ".join(filter(None, facts)), is_warning


def _dead_end_hint(position: Position) -> str:
    """Return what would have to follow at a dead end of the vocabulary, and what to do."""
    needed = f"It must continue with “{shown(position.forced_bytes)}”. " if position.forced_bytes else ""
    back = "Go back, or choose" if position.index else "Choose"
    return f"{needed}{back} another model, or change the grammar"


def _why_stopped(verdict: Verdict) -> str:
    last = verdict.tokens[-1] if verdict.tokens else None
    if last is not None and last.state is ReplayedTokenState.END:
        return f"It stopped because {last.name or 'an end token'} was taken, which the grammar allows here"
    if not verdict.is_complete:
        return unmarked(verdict.sentence)
    return "It stopped because the grammar is satisfied" + (
        "" if verdict.ending is None else ", though more might follow"
    )


def _how_far(ending: CompletionBudget) -> tuple[str, bool]:
    """Return the tokens that the shortest ending needs, compared with those that are left."""
    if ending.is_dead_end:
        return "no tokens of this vocabulary complete it", True
    if ending.least_tokens is None:
        return "", False
    least = f"{ending.least_tokens:,}"
    bounds = least if ending.least_tokens == ending.most_tokens else f"at least {least}"
    plural = "" if bounds == "1" else "s"
    left = ending.left
    if left is None:
        return f"the shortest ending needs {bounds} token{plural}", False
    return f"the shortest ending needs {bounds} token{plural}, {left:,} left", ending.least_tokens > left


def _finished(position: Position) -> Parts:
    accepting, is_empty = position.accepting, not (position.index or position.output)
    match position.finish:
        case Finish.STOP if accepting and is_empty:
            return (HeadlinePart("Nothing to generate", strong=True), HeadlinePart(": the empty text matches already"))
        case Finish.STOP if accepting:
            return (
                HeadlinePart("✓ Finished", strong=True, role=Role.ALLOWED),
                HeadlinePart(": the output matches in full"),
            )
        case Finish.STOP:
            return (HeadlinePart("Finished", strong=True), HeadlinePart(", though the output is no full match"))
        case Finish.LENGTH:
            match_ = ", but the output matches in full" if accepting else " before the output was complete"
            return (
                HeadlinePart("Out of budget", strong=True, role=Role.WARNING),
                HeadlinePart(f": the tokens are used up{match_}"),
            )
        case Finish.CONTEXT:
            match_ = ", but the output matches in full" if accepting else ", and the output is not complete"
            return (HeadlinePart(context_full(position), strong=True, role=Role.WARNING), HeadlinePart(match_))
    return (
        HeadlinePart("Dead end", strong=True, role=Role.ERROR),
        HeadlinePart(": the output is not complete, and no token of this vocabulary continues it"),
    )


def _forced(position: Position, *, has_model: bool) -> Parts:
    only = next((c for c in position.candidates if c.allowed), None)
    if only is None:
        return (HeadlinePart("Forced", strong=True, role=Role.FORCED), HeadlinePart(": only one token may come next"))
    forced = (
        HeadlinePart("Forced", strong=True, role=Role.FORCED),
        HeadlinePart(": only "),
        HeadlinePart(candidate_text(only), is_code=True),
        HeadlinePart(" may come next"),
    )
    if not has_model or position.z is None:
        return forced
    return (
        *forced,
        HeadlinePart(" · probability "),
        HeadlinePart(percent(position.z), strong=True),
        *(_wanted(position.wanted) if position.wanted and not position.wanted.allowed else ()),
    )


def _wanted(wanted: Candidate | None) -> Parts:
    if wanted is None:
        return ()
    role = Role.TEXT if wanted.allowed else Role.FORBIDDEN
    token = HeadlinePart(candidate_text(wanted), is_code=True, struck=not wanted.allowed, role=role)
    return (
        HeadlinePart(" · top\N{NO-BREAK SPACE}choice\N{NO-BREAK SPACE}"),
        token,
        *((HeadlinePart("\N{NO-BREAK SPACE}✓", role=Role.ALLOWED),) if wanted.allowed else ()),
    )


class Headline(StableWidget):
    """The headline and the line below it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: Parts = ()
        self._details = ""
        self._refusal = ""
        self._position: Position | None = None
        self._is_warning = False  # whether the second line is a warning
        self._has_ended = True
        self._is_emptied = False  # whether a stage of the pipeline removed every token
        self._is_tight = False
        self._rendered: tuple[Parts, str, bool] | None = None
        self._first = Label(is_html=True, wraps=True)
        self._second = Label(is_html=True, wraps=True)
        layout = QVBoxLayout(self.inner)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self._first)
        layout.addWidget(self._second)
        theme.themes.changed.connect(self._apply_theme)
        self._apply_theme()

    def show_position(self, position: Position, dead_end: str = "", *, has_model: bool = True) -> None:
        """Show a position.

        Args:
            position: the position. The assessment of the same object stays, since a late drawing shows it again.
            dead_end: which stage removed every token, if known.
            has_model: whether the probabilities are a model's.
        """
        if position is self._position:
            return
        self._parts = headline_of(position, has_model=has_model)
        self._is_emptied = bool(dead_end) and (position.finish is Finish.DEAD_END or bool(position.emptied_by))
        if self._is_emptied:
            self._parts = (*self._parts[:1], HeadlinePart(f": {unmarked(dead_end)}"))
        self._details = "" if self._is_emptied else second_line_of(position)
        self._position, self._is_warning = position, bool(self._details) and position.finish is Finish.DEAD_END
        self._has_ended = position.finish is not None
        facts = [f"{count(position.index, 'step')} taken", f"mask {duration(position.mask_us / 1e6)}"]
        if has_model and position.kl is not None:
            facts += [f"model {duration(position.logits_ms / 1e3)}", f"KL {position.kl:.3f} nats"]
        self.setToolTip(plain_text(" · ".join(facts)))
        self._render()

    def show_assessment(self, verdict: Verdict) -> None:
        """Add how far the end is, or why the output ended: it is computed shortly after the step."""
        if self._position is None or verdict.data != self._position.output or self._is_emptied:
            return  # the dead end is not the grammar's
        self._details, self._is_warning = assessment_of(self._position, verdict)
        if verdict.notes:
            self.setToolTip(plain_text("\n".join((self.toolTip(), *map(unmarked, verdict.notes)))))
        self._render()

    def show_empty_language(self) -> None:
        """Show that no text matches the grammar, which is not the vocabulary's fault."""
        self._position, self._is_warning = None, False
        self._parts = (
            HeadlinePart("No text matches this grammar", strong=True, role=Role.ERROR),
            HeadlinePart(": change it to go on"),
        )
        self._details = ""
        self._has_ended = True
        self.setToolTip("")
        self._render()

    def show_text(self, text: str) -> None:
        """Show why there is no position."""
        self._position, self._is_warning = None, False
        self._parts = (HeadlinePart(text, role=Role.MUTED),)
        self._details = ""
        self._has_ended = True
        self.setToolTip("")
        self._render()

    def set_tight(self, is_tight: bool) -> None:
        """Use a smaller font if there is hardly any room."""
        self._is_tight = is_tight
        self._apply_theme()

    def set_refusal(self, reason: str) -> None:
        """Show below a step why it cannot be taken; an end or an empty pane shows its own reason."""
        self._refusal = reason
        self._render()

    @property
    def text(self) -> str:
        """Return both lines as plain text."""
        first = "".join(part.text for part in self._parts)
        return f"{first}\n{self._second_line}".strip()

    @property
    def _second_line(self) -> str:
        return f"! {self._refusal}" if self._refusal and not self._has_ended else self._details

    def _apply_theme(self) -> None:
        self._first.setFont(tabular(theme.ui_font(0.0 if self._is_tight else 1.0)))
        self._rendered = None
        self._render()

    def _render(self) -> None:
        is_refused = self._second_line != self._details
        is_warning = is_refused or self._is_warning
        rendered = self._parts, self._second_line, is_warning
        if rendered == self._rendered:  # every step reports twice whether it can be taken
            return
        self._rendered = rendered
        self._first.setText("".join(part.html() for part in self._parts))
        self._second.setText(words(self._second_line, Role.WARNING if is_warning else Role.MUTED))
        self._first.setAccessibleName("".join(part.text for part in self._parts))
