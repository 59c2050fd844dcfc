"""*Why not?*: what happened to a token, byte by byte, and where in the grammar.

A match may have several stacks of rules at once. Each has its own row: how much of the token it read, what it expected
then, and in which rule.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.display_text import UNKNOWN, alternatives, in_line, percent, shown, token_text, unmarked
from app.theme.buttons import close_button, tool_button
from app.theme.labels import Label, plain_text
from app.widgets.accessibility import announce
from app.widgets.rich_text import code, prose, words
from app.workers.requests.decode import WhyAnswer
from engine.decoding.stage_texts import stage_title
from engine.decoding.values import Candidate, TokenStage
from engine.matching.byte_descriptions import byte_prose
from engine.matching.explanation import (
    Explanation,
    Reason,
    RefusalKind,
    RefusingKeyword,
    StackVerdict,
    TokenRefusal,
)
from engine.source import Span
from engine.source.text import quoted

Role = theme.Role
_MOST_SPANS = 3
_MOST_STACKS = 5
_MOST_PROPERTIES = 4
_MOST_KEYWORDS = 4
_EXCERPT = 28
_GAP = 4  # spaces between two columns of the stages
_LEAST_LINES = 4  # visible, if the window is low
_EMPHASIS = "text-decoration: underline; font-weight: 600;"


class WhyPanel(QFrame):
    """An answer below the candidates; closed by its button or Escape.

    Signals:
        span_wanted(Span): show this span of the grammar.
        closed: the panel was closed.
    """

    span_wanted = Signal(Span)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.setAccessibleName(ui_text("commands.run.why.title"))
        self._answer: WhyAnswer | None = None
        self._candidate: Candidate | None = None
        self._source = ""
        self._is_past = self._is_searching = False
        self._refusal: TokenRefusal | None = None
        self.title = Label(is_html=True, wraps=True)
        self._prose = Label(is_html=True, wraps=True)
        self._prose.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.close_button = close_button(ui_text("common.button.close"), clicked=self.close_panel)
        self.stages = Label(is_html=True)
        self.stages.setObjectName("why.stages")
        self.stages.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.stages.setToolTip(plain_text(ui_text("generation.why.stages.tip")))
        self._facts = QGridLayout()
        self._fact_widgets: list[QWidget] = []
        self._facts.setHorizontalSpacing(theme.SPACE_M)
        self._facts.setVerticalSpacing(theme.SPACE_XS)
        self._facts.setColumnStretch(1, 1)
        head = QHBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        layout.setSpacing(theme.SPACE_XS)
        layout.addLayout(head)
        head.addWidget(self.title, 1)
        head.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self._scrolled())
        theme.themes.changed.connect(self._render)
        self.hide()

    def show_answer(
        self,
        answer: WhyAnswer,
        candidate: Candidate | None,
        source: str,
        *,
        is_past: bool = False,
        is_searching: bool = False,
    ) -> None:
        """Open with an answer.

        Args:
            answer: the verdict on a token.
            candidate: the token's row in the table; None if it is not shown.
            source: the text of the grammar that the answer refers to, for excerpts; may be empty.
            is_past: whether the answer refers to another step than the shown one.
            is_searching: whether `show_refusal` will be called with what refuses the token.
        """
        self._answer, self._candidate, self._source, self._is_past = answer, candidate, source, is_past
        self._is_searching, self._refusal = is_searching, None
        self._render()
        self.show()
        name = candidate.name if candidate else ""
        token = token_text(answer.explanation.token, name, answer.token_id or 0)
        text = f"{token} {self._verdict}"
        if self._sentence:
            text = ui_text("generation.why.announcement", verdict=text, reason=unmarked(self._sentence))
        announce(self, text)

    def show_refusal(self, answer: WhyAnswer, refusal: TokenRefusal) -> None:
        """Add what refuses the token of an answer, if that is still shown."""
        if answer is self._answer:
            self._is_searching, self._refusal = False, refusal
            self._render()
            announce(self, unmarked(", ".join(one.pointer or "/" for one in refusal.keywords) or _cause(refusal)))

    def mark_past(self) -> None:
        """Add which step the answer refers to: another one is shown now."""
        if not self._is_past:
            self._is_past = True
            self._render()

    def close_panel(self) -> None:
        """Close the panel."""
        self.hide()
        self.closed.emit()

    def _scrolled(self) -> QWidget:
        """Return the facts and the sentence in a scroll area that scrolls if there is not enough space."""
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addLayout(self._facts)
        column.addWidget(self._prose)
        column.addWidget(self.stages)
        column.addStretch(1)
        return _Scrolled(body)

    def _render(self) -> None:
        if self._answer is None:
            return
        explanation = self._answer.explanation
        self.stages.setText(_stages_html(self._answer.stages))
        self.stages.setVisible(bool(self._answer.stages))
        self.title.setText(self._title_html(explanation))
        self._clear_facts()
        self._show_refusal()
        is_dead = explanation.reason is Reason.DEAD_BYTE
        if is_dead and len(explanation.token or b"") > 1 and explanation.offset is not None:
            self._add_fact(
                ui_text("generation.why.stops_at"), _label(_dead_html(explanation.token or b"", explanation.offset))
            )
        if self._has_refusal:  # the positions of the match are all parts of its object, and none of them refuses
            if explanation.expected and explanation.reason is not Reason.ALLOWED:
                self._show_expected(explanation, ())
            self._prose.hide()
            return
        read = explanation.stacks if self._removed_by is None else ()
        has_rows = any(stack.rules for stack in read) or len({stack.offset for stack in read}) > 1
        if has_rows:
            self._show_stacks(explanation)
        elif explanation.expected and explanation.reason is not Reason.ALLOWED:
            self._show_expected(explanation, explanation.spans)
        elif explanation.spans:
            buttons = self._span_buttons(explanation.spans)
            buttons.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
            self._add_fact(ui_text("generation.why.source"), buttons)
        is_said = is_dead and self._removed_by is None and (has_rows or bool(explanation.expected))
        self._prose.setText(prose(self._sentence))
        self._prose.setVisible(bool(self._sentence) and not is_said)

    @property
    def _has_refusal(self) -> bool:
        return self._is_searching or self._refusal is not None

    def _show_refusal(self) -> None:
        """Show the keywords that refuse the token, each with what it says."""
        caption = ui_text("generation.why.cause")
        if self._is_searching:
            self._add_fact(caption, _label(words(ui_text("generation.why.searching"), Role.MUTED)))
        if self._refusal is None:
            return
        innermost_first = sorted(self._refusal.keywords, key=lambda one: -one.pointer.count("/"))
        for keyword in innermost_first[:_MOST_KEYWORDS]:
            self._add_fact(caption, self._keyword_row(keyword))
            caption = ""
        more = len(self._refusal.keywords) - _MOST_KEYWORDS
        if more > 0:
            self._add_fact("", _label(words(_more(more), Role.MUTED)))
        if meaning := _cause(self._refusal):
            role = Role.MUTED if self._refusal.keywords else Role.TEXT
            self._add_fact(caption, _label(prose(meaning, role)))

    def _keyword_row(self, keyword: RefusingKeyword) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        spans = (keyword.span,) if keyword.span.end else ()
        layout.addWidget(self._span_button(keyword.pointer or "/", ui_text("generation.why.show"), spans))
        text = code(self._excerpt(keyword.span), Role.FORBIDDEN) if spans else ""
        if keyword.names:
            text += " " + prose(ui_text("generation.why.fragment.missing", names=", ".join(map(quoted, keyword.names))))
        if keyword.condition:
            key, condition = "is_met" if keyword.is_met else "is_not_met", quoted(keyword.condition)
            text += " " + prose(ui_text(f"generation.why.fragment.{key}", pointer=condition), Role.MUTED)
        layout.addWidget(_label(text), 1)
        return row

    @property
    def _sentence(self) -> str:
        if self._removed_by is not None:
            stage, why = self._removed_by
            return ui_text("generation.why.removed", stage=stage_title(stage), reason=why)
        return self._answer.prose if self._answer else ""

    @property
    def _is_allowed(self) -> bool:
        return self._answer is not None and self._answer.explanation.allowed and self._removed_by is None

    @property
    def _verdict(self) -> str:
        return ui_text(f"generation.why.fragment.{'allowed' if self._is_allowed else 'masked'}")

    @property
    def _removed_by(self) -> tuple[str, str] | None:
        return self._answer.removed_by if self._answer else None

    def _title_html(self, explanation: Explanation) -> str:
        name = self._candidate.name if self._candidate else ""
        text = token_text(explanation.token, name, (self._answer.token_id if self._answer else 0) or 0)
        role = Role.TEXT if self._is_allowed else Role.FORBIDDEN
        html_text = code(text, role, struck=not self._is_allowed) + words(f" {self._verdict}", strong=True)
        index = self._answer.index if self._answer else None
        if self._is_past and index is not None:
            html_text += words(f" · {ui_text('generation.why.fragment.past', token=index + 1)}", Role.MUTED)
        if self._candidate is not None:
            p = ui_text("generation.why.fragment.probability", p=percent(self._candidate.p))
            html_text += words(f" · {p}", Role.MUTED)
        return html_text

    def _show_expected(self, explanation: Explanation, spans: tuple[Span, ...]) -> None:
        """Show in one row what is expected, and which parts of the grammar expect it."""
        row = self._span_buttons(spans)
        layout = row.layout()
        assert isinstance(layout, QHBoxLayout)
        layout.insertWidget(0, _label(prose(byte_prose(explanation.expected), Role.ALLOWED)), 1)
        self._add_fact(ui_text("generation.why.expected"), row)

    def _span_buttons(self, spans: tuple[Span, ...]) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        for span in spans[:_MOST_SPANS]:
            show = partial(self.span_wanted.emit, span)
            button = tool_button(self._excerpt(span), ui_text("generation.why.show"), role="chip", clicked=show)
            button.setFont(theme.mono_font())
            layout.addWidget(button)
        if len(spans) > _MOST_SPANS:
            layout.addWidget(_label(words(_more(len(spans) - _MOST_SPANS), Role.MUTED)))
        return row

    def _excerpt(self, span: Span) -> str:
        text = self._source[span.start : span.end]
        if not text:
            return f"{span.start}–{span.end}" if span.end > span.start else str(span.start)
        text = in_line(text.encode("utf-8", "replace"))
        return text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"

    def _show_stacks(self, explanation: Explanation) -> None:
        """Show a row for each stack of the match, those that went farthest first."""
        token = explanation.token or b""
        for index, stack in enumerate(explanation.stacks[:_MOST_STACKS]):
            caption = ui_text("generation.why.by_stack" if len(explanation.stacks) > 1 else "generation.why.by_rule")
            self._add_fact(caption if index == 0 else "", self._stack_row(stack, token))
        more = len(explanation.stacks) - _MOST_STACKS
        if more > 0:
            self._add_fact("", _label(words(_more(more), Role.MUTED)))

    def _stack_row(self, stack: StackVerdict, token: bytes) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        if stack.rules:
            name = stack.rules[0] or "/"
            # The innermost rule says little on its own: the others are in the tool tip.
            tip = ui_text("generation.why.show")
            if len(stack.rules) > 1:
                tip += f"\n{' ← '.join(stack.rules)}"
            layout.addWidget(self._span_button(name, tip, stack.spans))
        elif stack.spans:
            layout.addWidget(
                self._span_button(self._excerpt(stack.spans[0]), ui_text("generation.why.show"), stack.spans)
            )
        layout.addWidget(_label(_stack_html(stack, token)), 1)
        return row

    def _span_button(self, text: str, tip: str, spans: tuple[Span, ...]) -> QWidget:
        shown = text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"
        show = partial(self.span_wanted.emit, spans[0]) if spans else None
        button = tool_button(shown, tip, role="chip", clicked=show)
        button.setFont(theme.mono_font())
        button.setEnabled(bool(spans))
        return button

    def _add_fact(self, name: str, value: QWidget) -> None:
        row = len(self._fact_widgets) // 2
        caption = Label(name)
        caption.setProperty("role", "muted")
        self._facts.addWidget(caption, row, 0, Qt.AlignmentFlag.AlignVCenter)
        self._facts.addWidget(value, row, 1)
        self._fact_widgets += caption, value

    def _clear_facts(self) -> None:
        for widget in self._fact_widgets:
            self._facts.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._fact_widgets.clear()


class _Scrolled(QScrollArea):
    """A scroll area that is as high as its content, or lower in a low window."""

    def __init__(self, body: QWidget) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its buttons scroll into view when they get the focus
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setWidget(body)
        for background in (self.viewport(), body):
            background.setAutoFillBackground(False)
        body.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the size hint when the content changes."""
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Update the size hint, since another width changes the line breaks."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the size of the content at the present width."""
        width = self.viewport().width()
        body = self.widget()
        assert body is not None
        height = body.heightForWidth(width) if body.hasHeightForWidth() else body.sizeHint().height()
        return QSize(body.sizeHint().width(), height)

    def minimumSizeHint(self) -> QSize:
        """Return the height of a few lines."""
        return QSize(0, min(self.sizeHint().height(), _LEAST_LINES * self.fontMetrics().lineSpacing()))


def _stages_html(stages: Sequence[TokenStage]) -> str:
    """Return the table of a token's numbers after each stage; a stage that changes none of them is muted."""
    titles = [ui_text(f"generation.why.stages.{name}") for name in ("stage", "logit", "probability", "rank")]
    rows, before = [_cells([words(title, Role.MUTED) for title in titles])], None
    for stage in stages:
        title = stage_title(stage.name) if stage.name else ui_text("generation.why.stages.model")
        if stage.is_removed:
            removed = words(f"✗ {ui_text('generation.why.stages.fragment.removed')}", Role.FORBIDDEN)
            rows.append(_cells([words(title, Role.FORBIDDEN, strong=True), removed]))
            break
        numbers = (
            UNKNOWN if stage.logit is None else f"{stage.logit:.3f}",
            percent(stage.p),
            UNKNOWN if stage.rank is None else f"{stage.rank:,}",
        )
        role = Role.MUTED if stage[1:] == before else Role.TEXT
        rows.append(_cells([words(text, role) for text in (title, *numbers)]))
        before = stage[1:]
    return f'<table cellspacing="0" cellpadding="1">{"".join(rows)}</table>'


def _cells(texts: Sequence[str]) -> str:
    first, *others = texts
    right = "".join(f"<td align=right>{'&nbsp;' * _GAP}{text}</td>" for text in others)
    return f"<tr><td>{first}</td>{right}</tr>"


def _cause(refusal: TokenRefusal) -> str:
    """Return in a sentence what a refusal says of its keywords, or in place of them."""
    match refusal.kind:
        case RefusalKind.KEYWORDS if refusal.option:
            return ui_text("generation.why.cause_sentence.keyword_and_order", count=len(refusal.keywords))
        case RefusalKind.KEYWORDS:
            return ui_text("generation.why.cause_sentence.keywords") if len(refusal.keywords) > 1 else ""
        case RefusalKind.OPTION:
            return ui_text(f"generation.why.cause_sentence.{refusal.option}")
    return ui_text(f"generation.why.cause_sentence.{refusal.kind.name.lower()}")


def _more(count: int) -> str:
    return ui_text("common.fragment.and_more", count=count)


def _label(text: str) -> QLabel:
    label = Label(text, is_html=True)
    label.setWordWrap(True)
    return label


def _stack_html(stack: StackVerdict, token: bytes) -> str:
    """Describe what a stack read of a token, and what it expected then."""
    if token and stack.offset is None:
        return words(ui_text("generation.why.fragment.reads_all"), Role.MUTED)
    read = ""
    if token and stack.offset:
        fits = words(f" {ui_text('generation.why.fragment.fits')} ", Role.MUTED)
        read = code(shown(token[: stack.offset]), Role.ALLOWED) + fits
    expected = [prose(byte_prose(stack.expected), Role.ALLOWED)] if stack.expected else []
    expected += [code(element, Role.ALLOWED) for element in stack.tokens]
    if stack.accepting:
        expected.append(words(ui_text("common.fragment.end")))
    joined = alternatives(expected) if expected else words(ui_text("generation.why.fragment.nothing"))
    facts = []
    if stack.properties:
        names = ", ".join(stack.properties[:_MOST_PROPERTIES])
        if len(stack.properties) > _MOST_PROPERTIES or stack.other_properties:
            names += ", …"
        facts.append(f"({ui_text('generation.why.fragment.properties', names=names)})")
    if token and stack.offset:
        facts.append(ui_text("generation.why.fragment.at_byte", number=stack.offset + 1))
    expects = words(f"{ui_text('generation.why.fragment.expects')} ", Role.MUTED)
    return read + expects + joined + "".join(words(f" {fact}", Role.MUTED) for fact in facts)


def _dead_html(token: bytes, offset: int) -> str:
    """Return a token with the byte marked that was refused; the rest was never read."""
    before, dead, after = token[:offset], token[offset : offset + 1], token[offset + 1 :]
    theme_now = theme.current()
    family = ", ".join(f"'{name}'" for name in theme.mono_font().families())
    pieces = (
        (before, f"color: {theme_now.hex(Role.ALLOWED)};"),
        (
            dead,
            f"color: {theme_now.hex(Role.ERROR)}; background-color: {theme_now.hex(Role.ERROR_FILL)}; {_EMPHASIS}",
        ),
        (after, f"color: {theme_now.hex(Role.MUTED)};"),
    )
    marked = "".join(
        f'<span style="font-family: {family}; {style}">{html.escape(shown(piece))}</span>' for piece, style in pieces
    )
    position = ui_text("generation.why.fragment.byte", number=offset + 1, count=len(token))
    return f"{marked} {words(position, Role.MUTED)}"
