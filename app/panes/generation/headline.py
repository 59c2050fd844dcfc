"""The headline of a step: what the grammar allows, its probability under the model, and the model's favourite."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.display_text import alternatives, candidate_text, context_full, duration, percent_between, shown, unmarked
from app.panes.generation.processors_format import budget_line
from app.theme.labels import Label, plain_text
from app.widgets.rich_text import code, words
from app.widgets.stable_widget import StableWidget
from app.widgets.token_paint import tabular
from engine.decoding.stage_texts import stage_title
from engine.decoding.values import Candidate, EosState, Finish, Position
from engine.diagnosis.scores.price_texts import LEAST_TOLD, price_sentence
from engine.diagnosis.scores.price_values import GrammarPrice
from engine.diagnosis.verdicts.verdict import CompletionBudget, ReplayedTokenState, Verdict
from engine.source import Span

Role = theme.Role
_MARKER = "\ue000"  # takes the position of a token until its text is split
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
        return _parts(ui_text("generation.headline.dead_end"), Role.ERROR)
    if position.emptied_by:
        return _parts(ui_text("generation.headline.emptied", stage=stage_title(position.emptied_by)), Role.ERROR)
    if position.forced:
        return _forced(position, has_model=has_model)
    numbers = {"allowed": position.allowed, "total": position.vocabulary_size}
    if not has_model:
        return _parts(ui_text("generation.headline.no_model", **numbers))
    if (z := position.z_range) is None:
        return _parts(ui_text("generation.headline.allowed", **numbers))
    text = ui_text("generation.headline.mass", **numbers, mass=percent_between(*z))
    return (*_parts(text), *_top_choice(position.wanted))


def _parts(text: str, role: Role = Role.TEXT, token: HeadlinePart | None = None) -> Parts:
    """Return the pieces of a text of the catalogue.

    Args:
        text: the text; a part between two `*` is strong.
        role: the colour of the strong parts.
        token: the token at the position of `_MARKER`.
    """
    pieces = (piece for piece in re.split(f"(\\*[^*]+\\*|{_MARKER})", text) if piece)
    return tuple(
        token
        if piece == _MARKER and token is not None
        else HeadlinePart(piece.strip("*"), strong=True, role=role)
        if piece.startswith("*")
        else HeadlinePart(piece)
        for piece in pieces
    )


def second_line_of(position: Position) -> str:
    """Return the second line: whether the output may end, what must follow, and what to do at a dead end."""
    if position.finish is Finish.DEAD_END:
        return _dead_end_hint(position)
    if position.finish is not None:
        return ""
    if position.eos is EosState.NO_EOS:
        facts = [ui_text("generation.headline.matches" if position.accepting else "generation.headline.incomplete")]
    else:
        may_end = position.eos is EosState.ALLOWED
        facts = [ui_text("generation.headline.may_end" if may_end else "generation.headline.may_not_end")]
    if position.forced_bytes and not position.forced:
        facts.append(ui_text("generation.headline.fragment.continues", text=shown(position.forced_bytes)))
    if position.parts:
        parts = alternatives([ui_text("generation.headline.fragment.part", part=part) for part in position.parts])
        facts.append(ui_text("generation.headline.fragment.within", parts=parts))
    context = position.context
    if position.budget is not None:
        is_context = context is not None and context.left == position.budget.left
        limit = "context" if is_context else "budget"
        facts.append(ui_text(f"generation.headline.fragment.{limit}", budget=budget_line(position.budget)))
    elif context is not None and context.left <= _FEW_TOKENS:
        facts.append(ui_text("common.fragment.context_left", count=context.left))
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
        distance, is_warning = _distance(ending)
        facts.append(distance)
    loop = next((one for one in verdict.loops if one.at_end), None)
    if loop is not None:
        first, last = loop.range
        what = "blank" if loop.blank else "repeats"
        facts.append(ui_text(f"generation.headline.fragment.loop_{what}", length=last - first))
        is_warning = True
    if verdict.divergence is not None:
        facts.append(ui_text("generation.headline.fragment.divergence", token=verdict.divergence.token + 1))
    return " · ".join(filter(None, facts)), is_warning


def _dead_end_hint(position: Position) -> str:
    """Return what would have to follow at a dead end of the vocabulary, and what to do."""
    hint = ui_text("generation.headline.dead_end_hint" if position.index else "generation.headline.dead_start_hint")
    if not position.forced_bytes:
        return hint
    return ui_text("generation.headline.must_continue", text=shown(position.forced_bytes), hint=hint)


def _why_stopped(verdict: Verdict) -> str:
    last = verdict.tokens[-1] if verdict.tokens else None
    if last is not None and last.state is ReplayedTokenState.END:
        token = last.name or ui_text("generation.headline.fragment.end_token")
        return ui_text("generation.headline.stopped.token", token=token)
    if not verdict.is_complete:
        return unmarked(verdict.sentence)
    is_maximal = verdict.ending is None
    return ui_text("generation.headline.stopped.maximal" if is_maximal else "generation.headline.stopped.matches")


def _distance(ending: CompletionBudget) -> tuple[str, bool]:
    """Return the tokens that the shortest ending needs, compared with those that are left."""
    if ending.is_dead_end:
        return ui_text("generation.headline.fragment.no_ending"), True
    least, left = ending.least_tokens, ending.left
    if least is None:
        return "", False
    bound = "exact" if least == ending.most_tokens else "at_least"
    text = ui_text(f"generation.headline.fragment.ending_{bound}", count=least)
    if left is None:
        return text, False
    return ui_text("generation.headline.fragment.left", ending=text, left=left), least > left


def _finished(position: Position) -> Parts:
    accepting, is_empty = position.accepting, not (position.index or position.output)
    match position.finish:
        case Finish.STOP if accepting and is_empty:
            return _parts(ui_text("generation.headline.finished.empty"))
        case Finish.STOP if accepting:
            return _parts(ui_text("generation.headline.finished.complete"), Role.ALLOWED)
        case Finish.STOP:
            return _parts(ui_text("generation.headline.finished.incomplete"))
        case Finish.LENGTH:
            end = "complete" if accepting else "incomplete"
            return _parts(ui_text(f"generation.headline.budget.{end}"), Role.WARNING)
        case Finish.CONTEXT:
            end = "complete" if accepting else "incomplete"
            text = ui_text(f"generation.headline.context.{end}", context=context_full(position))
            return _parts(text, Role.WARNING)
    return _parts(ui_text("generation.headline.finished.dead_end"), Role.ERROR)


def _forced(position: Position, *, has_model: bool) -> Parts:
    only = next((c for c in position.candidates if c.allowed), None)
    if only is None:
        return _parts(ui_text("generation.headline.forced.any"), Role.FORCED)
    token = HeadlinePart(candidate_text(only), is_code=True)
    if not has_model or (z := position.z_range) is None:
        return _parts(ui_text("generation.headline.forced.token", token=_MARKER), Role.FORCED, token)
    *parts, mass = _parts(
        ui_text("generation.headline.forced.mass", token=_MARKER, mass=percent_between(*z)), Role.FORCED, token
    )
    wanted = position.wanted
    top_choice = _top_choice(wanted) if wanted is not None and not wanted.allowed else ()
    return (*parts, replace(mass, role=Role.TEXT), *top_choice)


def _top_choice(wanted: Candidate | None) -> Parts:
    if wanted is None:
        return ()
    role = Role.TEXT if wanted.allowed else Role.FORBIDDEN
    token = HeadlinePart(candidate_text(wanted), is_code=True, struck=not wanted.allowed, role=role)
    text = ui_text("generation.headline.fragment.top_choice", token=_MARKER)
    mark = (HeadlinePart("\N{NO-BREAK SPACE}✓", role=Role.ALLOWED),) if wanted.allowed else ()
    return (*_parts(f" · {text}", token=token), *mark)


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
        tip = ui_text("generation.headline.tip", count=position.index, mask=duration(position.mask_us / 1e6))
        if has_model and position.kl is not None:
            model = duration(position.logits_ms / 1e3)
            tip = ui_text("generation.headline.tip_model", step=tip, model=model, kl=position.kl)
        if (unknown := position.unknown) is not None and unknown.left:
            size = unknown.known + unknown.left
            tip += "\n" + ui_text("generation.headline.tip_partial", known=unknown.known, total=size)
        self.setToolTip(plain_text(tip))
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
        self._parts = _parts(ui_text("generation.headline.no_text"), Role.ERROR)
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
        """Use a smaller font if there is hardly any space."""
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


class PriceLine(Label):
    """The most expensive part of the grammar for the shown output, with links to its step and to its text.

    Signals:
        step_wanted(int): go to this step of the output.
        span_wanted(Span): show this part of the grammar.
    """

    step_wanted = Signal(int)
    span_wanted = Signal(Span)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent, wraps=True, is_html=True)
        self.setObjectName("price-line")
        self._price: GrammarPrice | None = None
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.setToolTip(plain_text(ui_text("generation.price.tip")))
        self.hide()
        self.linkActivated.connect(self._follow)
        theme.themes.changed.connect(self._apply_theme)  # a method, so that it ends with the widget

    def _apply_theme(self) -> None:
        self.show_price(self._price)

    def show_price(self, price: GrammarPrice | None) -> None:
        """Show a price; nothing if there is none worth telling."""
        self._price = price
        is_told = price is not None and bool(price.parts) and price.parts[0].nats.low >= LEAST_TOLD
        sentence = "" if price is None or not is_told else price_sentence(price, _marked)
        self.setText("".join(self._html(piece) for piece in re.split(f"({_MARKER}[^{_MARKER}]*{_MARKER})", sentence)))
        self.setAccessibleName("" if price is None else price_sentence(price))
        self.setVisible(is_told)

    def _html(self, piece: str) -> str:
        """Return a piece of the sentence as HTML; one between two markers begins with the name of its field."""
        if not piece.startswith(_MARKER):
            return words(piece, Role.MUTED)
        field, text = piece.strip(_MARKER).split(":", 1)
        if field == "token":
            return code(unmarked(text), Role.FORBIDDEN, struck=True)
        has_target = field == "step" or (self._price is not None and self._price.parts[0].span is not None)
        if not has_target:
            return words(unmarked(text))
        return f'<a href="{field}">{words(unmarked(text), Role.ACCENT)}</a>'

    def _follow(self, field: str) -> None:
        if self._price is None:
            return
        part = self._price.parts[0]
        if field == "step":
            self.step_wanted.emit(part.worst.step)
        elif part.span is not None:
            self.span_wanted.emit(part.span)


def _marked(field: str, text: str) -> str:
    return f"{_MARKER}{field}:{text}{_MARKER}"
