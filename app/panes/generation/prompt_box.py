"""The prompt: plain text, or a chat if the model has a template for one.

Folded, it is one line. A change is reported shortly after the last keystroke, and at once if a step must not be taken
before it (`commit`).
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.delays import delayed
from app.display_text import prompt_text
from app.panes.generation.chip import prompt_chips
from app.panes.generation.chip_view import ChipView
from app.theme.buttons import push_button, tool_button
from app.theme.labels import Label
from app.widgets.clean_paste import CleanLineField, CleanTextField
from app.widgets.elided_label import ElidedLabel
from engine.decoding.values import Chat

_DELAY_MS = 500
_TEXT, _CHAT = 0, 1


class PromptBox(QWidget):
    """Edits a prompt.

    Signals:
        edited(prompt): the user changed it; a `str` or a `Chat`.
        drafted(prompt): the user is typing; `edited` follows shortly after the last key.
        secrets_removed(int): so many were removed from pasted text.
    """

    edited = Signal(object)
    drafted = Signal(object)
    secrets_removed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._prompt: str | Chat = ""
        self._shown_tokens: tuple[tuple[int, str], ...] = ()
        self._delay = delayed(self, _DELAY_MS, self.commit)
        self.fold = tool_button(ui_text("generation.prompt.name"), "", role="fold", checkable=True)
        self.fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.summary = ElidedLabel()
        policy = self.summary.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.summary.setSizePolicy(policy)
        self.as_text = tool_button(ui_text("common.word.text"), ui_text("generation.prompt.text_tip"), checkable=True)
        self.as_chat = tool_button(
            ui_text("generation.prompt.chat"), ui_text("generation.prompt.chat_tip"), checkable=True
        )
        self.modes = QButtonGroup(self)
        self.modes.addButton(self.as_text, _TEXT)
        self.modes.addButton(self.as_chat, _CHAT)
        self.as_text.setChecked(True)
        self.text = _field(ui_text("generation.prompt.text_hint"), 3)
        self.text.setAccessibleName(ui_text("generation.prompt.name"))
        self.system = _field(ui_text("generation.prompt.system_hint"), 2)
        self.user = _field(ui_text("generation.prompt.user_hint"), 3)
        self.assistant = CleanLineField(ui_text("generation.prompt.assistant_hint"))
        self.sees = push_button("", ui_text("generation.prompt.sees_tip"), role="link", checkable=True)
        self.tokens = ChipView(ui_text("generation.prompt.no_tokens"))
        self.tokens.setAccessibleName(ui_text("generation.prompt.tokens"))
        self._pages = QStackedWidget()
        self._body = QWidget()
        self._build()
        self._connect()
        self._fit_page()
        self._fold(is_open=False)
        self._unfold_tokens()
        self.set_can_chat(False)

    def prompt(self) -> str | Chat:
        """Return the prompt in the fields."""
        if self.modes.checkedId() == _TEXT:
            return self.text.toPlainText()
        messages = [("system", self.system.toPlainText()), ("user", self.user.toPlainText())]
        return Chat(tuple(message for message in messages if message[1]), self.assistant.text())

    def show_prompt(self, prompt: str | Chat, tokens: tuple[tuple[int, str], ...]) -> None:
        """Show the prompt in force; do not overwrite what the user is typing."""
        if tokens != self._shown_tokens:  # not at every step
            self._shown_tokens = tokens
            self.tokens.show_chips(prompt_chips(tokens), None)
            self._unfold_tokens()
        if not self._delay.isActive() and prompt not in (self._prompt, self.prompt()):
            self._fill(prompt)
        if not self._delay.isActive():
            self._prompt = prompt
        self._summarise()

    def set_can_chat(self, can_chat: bool) -> None:
        """Set whether the model has a chat template; a chat that is in force stays visible."""
        is_chat = self.modes.checkedId() == _CHAT
        for button in (self.as_text, self.as_chat):
            button.setVisible(can_chat or is_chat)

    def commit(self) -> None:
        """Report a change that was not reported yet."""
        self._delay.stop()
        prompt = self.prompt()
        if prompt != self._prompt:
            self._prompt = prompt
            self.edited.emit(prompt)
        self._summarise()

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_XS)
        chat = QWidget()
        form = QFormLayout(chat)
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(theme.SPACE_XS)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapAllRows)
        for role, field in (("system", self.system), ("user", self.user), ("assistant", self.assistant)):
            caption = Label(ui_text(f"generation.prompt.role.{role}"))
            caption.setProperty("role", "muted")
            caption.setBuddy(field)
            form.addRow(caption, field)
        self._pages.addWidget(self.text)
        self._pages.addWidget(chat)
        self._pages.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        body = QVBoxLayout(self._body)
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(theme.SPACE_XS)
        body.addWidget(self._pages)
        body.addWidget(self.sees, 0, Qt.AlignmentFlag.AlignLeft)
        body.addWidget(self.tokens)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        layout.addLayout(head)
        head.addWidget(self.fold)
        head.addWidget(self.summary, 1)
        head.addWidget(self.as_text)
        head.addWidget(self.as_chat)
        layout.addWidget(self._body)

    def _connect(self) -> None:
        self.fold.toggled.connect(lambda is_open: self._fold(is_open=is_open))
        self.summary.installEventFilter(self)
        self.modes.idToggled.connect(self._on_mode)
        self.sees.toggled.connect(self._unfold_tokens)
        for field in (self.text, self.system, self.user):
            field.textChanged.connect(self._on_typed)
            field.installEventFilter(self)
        for source in (self.text, self.system, self.user, self.assistant):
            source.secrets_removed.connect(self.secrets_removed)
        self.assistant.textChanged.connect(lambda _text: self._on_typed())
        self.assistant.editingFinished.connect(self.commit)

    def _on_typed(self) -> None:
        self._delay.start()
        self.drafted.emit(self.prompt())

    def _fold(self, *, is_open: bool) -> None:
        self._body.setVisible(is_open)
        self.summary.setVisible(not is_open)
        self.fold.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)
        self.fold.setToolTip(ui_text("generation.prompt.fold" if is_open else "generation.prompt.unfold"))

    def _unfold_tokens(self) -> None:
        is_open = self.sees.isChecked()
        mark = "▾" if is_open else "▸"
        self.sees.setText(f"{mark} {ui_text('generation.prompt.sees', count=len(self._shown_tokens))}")
        self.tokens.setVisible(is_open)
        self._fit_tokens()

    def _fit_tokens(self) -> None:
        """Fit the height to the tokens, up to a few lines."""
        most = self.tokens.sizeHint().height()
        self.tokens.setFixedHeight(min(max(self.tokens.content_height, self.tokens.minimumSizeHint().height()), most))

    def _on_mode(self, mode: int, checked: bool) -> None:
        if not checked:
            return
        self._pages.setCurrentIndex(mode)
        self._fit_page()
        if mode == _CHAT and not self.user.toPlainText():
            self.user.setPlainText(self.text.toPlainText())
        self._delay.start()
        self.fold.setChecked(True)

    def _fit_page(self) -> None:
        if (page := self._pages.currentWidget()) is not None:
            # A field's size hint ignores its fixed height.
            self._pages.setFixedHeight(page.sizeHint().boundedTo(page.maximumSize()).height())

    def _fill(self, prompt: str | Chat) -> None:
        fields = (self.text, self.system, self.user, self.assistant, self.modes)
        blockers = [QSignalBlocker(field) for field in fields]
        if isinstance(prompt, Chat):
            self.as_chat.setChecked(True)
            texts = dict(prompt.messages)
            self.system.setPlainText(texts.get("system", ""))
            self.user.setPlainText(texts.get("user", ""))
            self.assistant.setText(prompt.assistant_prefix)
        else:
            self.as_text.setChecked(True)
            self.text.setPlainText(prompt)
        for blocker in blockers:
            blocker.unblock()
        self._pages.setCurrentIndex(self.modes.checkedId())
        self._fit_page()

    def _summarise(self) -> None:
        self.summary.set_text(prompt_text(self.prompt()) or ui_text("generation.prompt.fragment.empty"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the tokens again, once the width is final."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit_tokens)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Open the folded prompt on a click; report a change when a field loses the focus."""
        if event.type() == QEvent.Type.FocusOut and watched is not self.summary:
            self.commit()
        elif watched is self.summary and event.type() == QEvent.Type.MouseButtonRelease:
            self.fold.setChecked(True)
            (self.text if self.modes.checkedId() == _TEXT else self.user).setFocus()
        return super().eventFilter(watched, event)


def _field(placeholder: str, lines: int) -> CleanTextField:
    field = CleanTextField()
    field.setPlaceholderText(placeholder)
    field.setTabChangesFocus(True)
    field.setProperty("role", "field")
    field.setFrameShape(QFrame.Shape.NoFrame)
    field.setFixedHeight(lines * QFontMetrics(theme.ui_font()).lineSpacing() + 18)
    return field
