"""The pane of a sample text: many lines, with what the grammar makes of each while one types.

Data goes in by `show_…` methods; what the user requests comes out by signals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from PySide6.QtCore import QPointF, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QShowEvent, QTextBlock, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QTextEdit, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.display_text import unmarked
from app.theme.buttons import push_button
from app.theme.icons import icon
from app.theme.labels import Label
from app.widgets.clean_paste import CleanTextField
from app.widgets.document_text import document_text
from app.widgets.elided_label import ElidedLabel
from app.workers.requests.judge import MOST_SAMPLE_TEXTS, SampleAnswer, SampleMode, SampleVerdict
from engine.source import Span

Role = theme.Role
_SIGN = 12  # pixels
_MOST_MARKS = 400  # Qt lays each out again at every paint
_SIGNS = {
    "match": ("ph.check-circle-fill", Role.ALLOWED),
    "begins": ("ph.hourglass", Role.WARNING),
    "fails": ("ph.x-circle-fill", Role.ERROR),
}


class SamplePane(QWidget):
    """Shows a sample text with the matches in it, or the verdict on each of its lines.

    Signals:
        edited(text): the user changed the sample.
        verdicts_wanted: the text or the mode has another verdict, or the pane is shown again.
        test_wanted(text, accepts): add a text of the sample to the test strings.
        span_wanted(Span): show this span of the grammar.
    """

    edited = Signal(str)
    verdicts_wanted = Signal()
    test_wanted = Signal(str, bool)
    span_wanted = Signal(Span)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answer: SampleAnswer | None = None
        self._stale = ""
        self.field = SampleField()
        self.modes = QComboBox()
        self.modes.setAccessibleName(ui_text("sample.mode.name"))
        for mode in SampleMode:
            self.modes.addItem(ui_text(f"sample.mode.{mode.value}"), mode)
        self.summary = ElidedLabel()
        self.summary.setProperty("role", "muted")
        self.verdict = Label(wraps=True)
        self.verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.show_span = push_button(
            ui_text("common.button.show_in_grammar"),
            ui_text("sample.pane.show_tip"),
            role="link",
            clicked=self._show_span,
        )
        self.add_test = push_button(
            ui_text("sample.pane.add"), ui_text("sample.pane.add_tip"), role="link", clicked=self._add_test
        )
        self._build()
        self.modes.activated.connect(lambda _index: self._on_mode())
        self.field.textChanged.connect(self._on_edited)
        self.field.cursorPositionChanged.connect(self._show_verdict)
        self.setFocusProxy(self.field)
        theme.themes.changed.connect(self._mark)
        self._show_verdict()

    @property
    def text(self) -> str:
        """Return the sample."""
        return document_text(self.field.document())

    @property
    def mode(self) -> SampleMode:
        """Return what is judged."""
        return SampleMode(self.modes.currentData())

    def show_text(self, text: str) -> None:
        """Replace the sample by that of another document."""
        if text != self.text:
            with QSignalBlocker(self.field):
                self.field.setPlainText(text)
            self._forget()

    def set_stale(self, reason: str) -> None:
        """Show why the verdicts are those of an older text of the grammar; empty if they are not."""
        self._stale = reason
        self._show_summary()

    def show_answer(self, answer: SampleAnswer) -> None:
        """Show the verdicts, unless the sample has changed since."""
        if (answer.request.text, answer.request.mode) == (self.text, self.mode):
            self._answer = answer
            self._mark()
            self._show_summary()
            self._show_verdict()

    def showEvent(self, event: QShowEvent) -> None:
        """Request the verdicts, which are not computed for a hidden pane."""
        super().showEvent(event)
        self.verdicts_wanted.emit()

    def _build(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(theme.SPACE_S, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        bar.setSpacing(theme.SPACE_S)
        foot = QHBoxLayout()
        foot.setContentsMargins(theme.SPACE_S, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        foot.setSpacing(theme.SPACE_S)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self.field, 1)
        layout.addLayout(foot)
        bar.addWidget(self.modes)
        bar.addWidget(self.summary, 1)
        foot.addWidget(self.verdict, 1)
        foot.addWidget(self.show_span)
        foot.addWidget(self.add_test)

    def _on_mode(self) -> None:
        self._forget()
        self.verdicts_wanted.emit()

    def _on_edited(self) -> None:
        """Keep what is shown of the other lines until the new verdicts arrive."""
        self.edited.emit(self.text)
        self._show_verdict()
        self.verdicts_wanted.emit()

    def _forget(self) -> None:
        self._answer = None
        self._mark()
        self._show_summary()
        self._show_verdict()
        if self.isVisible():
            self.verdicts_wanted.emit()

    @property
    def _current(self) -> tuple[str, SampleVerdict] | None:
        """Return the text at the cursor and its verdict; None while there is none."""
        if self._answer is None or self._answer.request.text != self.text:
            return None
        index = self.field.textCursor().blockNumber() if self.mode is SampleMode.LINES else 0
        if index >= len(self._answer.verdicts):
            return None
        text = self.text if self.mode is SampleMode.WHOLE else self.field.document().findBlockByNumber(index).text()
        return text, self._answer.verdicts[index]

    def _show_span(self) -> None:
        if (current := self._current) is not None and current[1].spans:
            self.span_wanted.emit(current[1].spans[0])

    def _add_test(self) -> None:
        if (current := self._current) is not None:
            self.test_wanted.emit(current[0], current[1].is_complete)

    def _show_verdict(self) -> None:
        current = self._current
        self.verdict.setText(unmarked(current[1].sentence) if current is not None and self.text else "")
        self.show_span.setVisible(current is not None and bool(current[1].spans))
        self.add_test.setVisible(current is not None and bool(self.text))

    def _show_summary(self) -> None:
        self.summary.set_text(self._stale or self._summary())

    def _summary(self) -> str:
        answer = self._answer
        if answer is None or not self.text:
            return ""
        if answer.error:
            return answer.error
        if self.mode is SampleMode.SEARCH:
            text = ui_text("sample.summary.matches", count=len(answer.matches))
            size = len(self.text.encode("utf-8", "surrogatepass"))
            if answer.searched < size:
                text += f" · {ui_text('sample.summary.fragment.searched', done=answer.searched, total=size)}"
            return text
        counts = Counter(_signs(answer).values())
        parts = [ui_text(f"sample.summary.{sign}", count=counts[sign]) for sign in _SIGNS if counts[sign]]
        lines = self.field.blockCount()
        if self.mode is SampleMode.LINES and lines > MOST_SAMPLE_TEXTS:
            parts.append(ui_text("sample.summary.fragment.judged", done=MOST_SAMPLE_TEXTS, total=lines))
        return " · ".join(filter(None, parts))

    def _mark(self) -> None:
        answer = self._answer
        if answer is None:
            self.field.show_marks((), {})
        elif answer.request.mode is SampleMode.SEARCH:
            starts = _utf16_offsets(answer.request.text, (at for match in answer.matches for at in match))
            ranges = tuple((starts[first], starts[last]) for first, last in answer.matches[:_MOST_MARKS])
            self.field.show_matches(ranges)
        else:
            self.field.show_marks(_failures(answer), _signs(answer))


class SampleField(CleanTextField):
    """The text of the sample, with a sign beside each line that is judged."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._signs: dict[int, str] = {}
        self._margin = _Margin(self)
        self.setAccessibleName(ui_text("sample.pane.field"))
        self.setPlaceholderText(ui_text("sample.pane.empty"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setViewportMargins(self._margin.sizeHint().width(), 0, 0, 0)
        self.document().setDocumentMargin(theme.SPACE_XS)
        self.updateRequest.connect(lambda _rect, _dy: self._margin.update())
        theme.themes.changed.connect(self._apply_theme)
        self._apply_theme()

    def sign_of(self, line: int) -> str:
        """Return the sign of a line: `match`, `begins` or `fails`; empty for none."""
        return self._signs.get(line, "")

    def show_marks(self, failures: Iterable[tuple[int, int, int]], signs: dict[int, str]) -> None:
        """Mark where texts fail.

        Args:
            failures: the start and the end of the character that is not allowed, and the end of its text, in UTF-16.
            signs: the sign of each line.
        """
        self._signs = signs
        self._margin.update()
        marks = []
        for start, end, last in failures:
            marks.append(self._selection(start, end, Role.ERROR, Role.ERROR_FILL, underlined=True))
            marks.append(self._selection(end, last, Role.MUTED))
        self.setExtraSelections(marks)

    def show_matches(self, ranges: tuple[tuple[int, int], ...]) -> None:
        """Mark matches, in two colours by turns, so that neighbours differ."""
        self._signs = {}
        self._margin.update()
        fills = (Role.ALLOWED_FILL, Role.HINT_FILL)
        self.setExtraSelections(
            [
                self._selection(start, end, Role.TEXT, fills[number % 2], underlined=True)
                for number, (start, end) in enumerate(ranges)
            ]
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the margin."""
        super().resizeEvent(event)
        inner = self.contentsRect()
        self._margin.setGeometry(inner.left(), inner.top(), self._margin.sizeHint().width(), inner.height())

    def visible_lines(self) -> Iterable[tuple[QTextBlock, float]]:
        """Return the visible lines with their positions in pixels."""
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= self.viewport().height():
            yield block, top
            block, top = block.next(), top + self.blockBoundingRect(block).height()

    def _selection(
        self, start: int, end: int, colour: Role, fill: Role | None = None, *, underlined: bool = False
    ) -> QTextEdit.ExtraSelection:
        cursor = QTextCursor(self.document())
        last = self.document().characterCount() - 1
        cursor.setPosition(min(start, last))
        cursor.setPosition(min(end, last), QTextCursor.MoveMode.KeepAnchor)
        format_ = QTextCharFormat()
        format_.setForeground(theme.colour(colour))
        if fill is not None:
            format_.setBackground(theme.colour(fill))
        if underlined:
            format_.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
            format_.setUnderlineColor(theme.colour(Role.ERROR if fill is Role.ERROR_FILL else Role.ALLOWED))
        selection = QTextEdit.ExtraSelection()
        selection.cursor, selection.format = cursor, format_
        return selection

    def _apply_theme(self) -> None:
        self.setFont(theme.mono_font())
        self._margin.update()


class _Margin(QWidget):
    """The signs at the left of a sample."""

    def __init__(self, field: SampleField) -> None:
        super().__init__(field)
        self._field = field

    def sizeHint(self) -> QSize:
        """Return the width of a sign."""
        return QSize(_SIGN + 2 * theme.SPACE_XS, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the signs of the visible lines."""
        painter = QPainter(self)
        height = self._field.fontMetrics().height()
        for block, top in self._field.visible_lines():
            if sign := self._field.sign_of(block.blockNumber()):
                box = QRectF(QPointF(theme.SPACE_XS, top + (height - _SIGN) / 2), QSize(_SIGN, _SIGN))
                icon(*_SIGNS[sign]).paint(painter, box.toRect())
        painter.end()


def _signs(answer: SampleAnswer) -> dict[int, str]:
    """Return the signs by line; an empty line has one only if it matches."""
    lines = answer.request.text.split("\n")
    return {
        number: "match" if one.is_complete else "begins" if one.is_prefix else "fails"
        for number, one in enumerate(answer.verdicts)
        if lines[number] or one.is_complete
    }


def _failures(answer: SampleAnswer) -> tuple[tuple[int, int, int], ...]:
    """Return, in UTF-16 units, the character at which each text fails, and the end of the text."""
    text, mode = answer.request.text, answer.request.mode
    lines = text.split("\n") if mode is SampleMode.LINES else [text]
    found: list[tuple[int, int, int]] = []
    start = 0
    for line, verdict in zip(lines, answer.verdicts, strict=False):
        if not verdict.is_prefix and len(found) < _MOST_MARKS:
            data = line.encode("utf-8", "surrogatepass")
            before = data[: verdict.legal].decode("utf-8", "ignore")
            failing = line[len(before) : len(before) + 1]
            at = start + _utf16_length(before)
            found.append((at, at + _utf16_length(failing), start + _utf16_length(line)))
        start += _utf16_length(line) + 1
    return tuple(found)


def _utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _utf16_offsets(text: str, offsets: Iterable[int]) -> dict[int, int]:
    """Return the UTF-16 offset of each byte offset, which ascend."""
    data = text.encode("utf-8", "surrogatepass")
    found: dict[int, int] = {0: 0}
    last = units = 0
    for offset in offsets:
        units += _utf16_length(data[last:offset].decode("utf-8", "surrogatepass"))
        found[offset], last = units, offset
    return found
