"""Attach to a server: its address and key, what it says of itself, and what it can do.

The server is asked before its model is opened, so that the user sees what will work. What a server does not say is
shown as unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.theme.buttons import push_button
from app.theme.icons import IconLabel
from app.theme.labels import Label
from app.widgets.accessibility import announce
from app.widgets.banner import Banner
from app.workers.requests.servers import IdentifyServer, KeepServerKey, ServerAnswer
from engine.servers import ServerError, ServerIdentity
from engine.servers.identity import Distribution, MaskOrder
from engine.servers.keys import KEY_VARIABLE
from engine.servers.server_spec import ServerSpec

_BAR = 4  # pixels
_ICON = 16
_ANSWERS = {True: "yes", False: "no", None: "unknown"}
_FIRST_ADDRESS = "http://127.0.0.1:8080"  # the default of llama-server


class AttachDialog(QDialog):
    """Asks for a server, and shows what it is.

    Args:
        recent: specs of servers, the latest first.
        parent: the window.

    Attributes:
        address, key, keeps_key, model, tokenizer: the fields.

    Signals:
        asked(IdentifyServer): ask this server what it is.
        cancelled(): stop asking.
        key_kept(KeepServerKey): keep this key in the keyring; the answer goes to `show_kept_key`.
        key_removed(KeepServerKey): remove the key from the keyring; the answer goes to `show_removed_key`.
        attached(spec, key): open the model of this server.
    """

    asked = Signal(IdentifyServer)
    cancelled = Signal()
    key_kept = Signal(KeepServerKey)
    key_removed = Signal(KeepServerKey)
    attached = Signal(str, str)

    def __init__(self, recent: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._waits_for: IdentifyServer | None = None
        self._answer: ServerAnswer | None = None
        self._has_kept_key = False
        self.setWindowTitle(ui_text("dialogs.attach.title"))
        self.resize(620, 560)
        self.address = QComboBox(editable=True)
        self.address.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.address.addItems([*recent] or [_FIRST_ADDRESS])
        self.key, self.keeps_key = QLineEdit(), QCheckBox(ui_text("dialogs.attach.keep"))
        self.ask_button = push_button(ui_text("dialogs.attach.ask"), ui_text("dialogs.attach.ask_tip"))
        self.bar = QProgressBar(textVisible=False, maximum=0)
        self.verdict = Banner()
        self.remote = Banner("warning")
        self.model, self.tokenizer = QComboBox(), QLineEdit()
        self.choose_button = push_button(ui_text("dialogs.attach.choose"))
        self.facts = QScrollArea()
        self.attach_button = push_button(
            ui_text("dialogs.attach.attach"), ui_text("dialogs.attach.attach_tip"), role="primary"
        )
        self._model_label = Label(ui_text("dialogs.attach.model"))
        self._tokenizer_label = Label(ui_text("dialogs.attach.tokenizer"))
        self._set_up()
        self._lay_out()
        self._on_address()

    @property
    def answer(self) -> ServerAnswer | None:
        """Return what the server says of itself; None if it was not asked yet."""
        return self._answer

    @property
    def is_asking(self) -> bool:
        """Return whether the answer of a server is awaited."""
        return self._waits_for is not None

    def show_server(self, spec: str) -> None:
        """Fill in a server that a document names."""
        self.address.setEditText(spec)

    def show_answer(self, answer: ServerAnswer) -> None:
        """Show what a server says of itself, unless another one is awaited."""
        if answer.request != self._waits_for:
            return
        self._waits_for, self._answer = None, answer
        found = answer.identity
        self._has_kept_key = answer.has_kept_key
        self.keeps_key.setChecked(answer.has_kept_key or self.keeps_key.isChecked())
        self.model.clear()
        if found is not None:
            self.model.addItems(found.models)
            self.model.setCurrentText(self._wanted_model() or found.model)
        if answer.error:
            self.verdict.show_message(ui_text("dialogs.attach.failed"), answer.error, severity="error")
        elif not answer.can_step:
            detail = ui_text("dialogs.attach.read_only")
            self.verdict.show_message(self._title(answer), detail, severity="warning")
        elif answer.lacks_tokenizer:
            detail = ui_text("dialogs.attach.needs_tokenizer")
            self.verdict.show_message(self._title(answer), detail, severity="warning")
        else:
            self.verdict.show_message(self._title(answer), severity="allowed")
        announce(self, self.verdict.accessibleName())
        self._show_facts()
        self._enable()

    def show_kept_key(self, error: str) -> None:
        """Attach if the key is in the keyring now; show why if it is not."""
        if error:
            self.verdict.show_message(ui_text("dialogs.attach.not_kept"), error, severity="error")
        else:
            self._attach()

    def show_removed_key(self, error: str) -> None:
        """Forget what the server said to the key that was removed; show why if it was not."""
        if error:
            self.keeps_key.setChecked(True)
            self.verdict.show_message(ui_text("dialogs.attach.not_removed"), error, severity="error")
            return
        self._on_address()
        self.verdict.show_message(ui_text("dialogs.attach.removed"), severity="hint")

    def _title(self, answer: ServerAnswer) -> str:
        found = answer.identity
        assert found is not None
        version = found.version or ui_text("dialogs.attach.fragment.no_version")
        return ui_text("dialogs.attach.found", kind=answer.title, version=version)

    def _spec(self) -> ServerSpec | None:
        """Return the server of the fields; None if the address is not one of HTTP."""
        try:
            typed = ServerSpec.read(self.address.currentText())
        except ServerError:
            return None
        return ServerSpec(typed.address, self.model.currentText(), self.tokenizer.text().strip() or typed.tokenizer)

    def _wanted_model(self) -> str:
        try:
            return ServerSpec.read(self.address.currentText()).model
        except ServerError:
            return ""

    def _on_ask(self) -> None:
        if self.is_asking:
            self._waits_for = None
            self.cancelled.emit()
            self._enable()
            return
        try:
            server = ServerSpec.read(self.address.currentText())
        except ServerError as error:
            self.verdict.show_message(ui_text("dialogs.attach.failed"), str(error), severity="error")
            self.address.setFocus()
            return
        self._waits_for, self._answer = IdentifyServer(server.address, self.key.text().strip()), None
        self.verdict.set_text("")
        self._show_facts()
        self._enable()
        self.asked.emit(self._waits_for)

    def _on_address(self) -> None:
        """Forget the answer of another server."""
        server = self._spec()
        is_remote = server is not None and server.is_remote
        self.remote.set_text(ui_text("dialogs.attach.remote", address=server.address) if server and is_remote else "")
        if self.is_asking:
            self._waits_for = None
            self.cancelled.emit()
        if self._has_kept_key:
            self.keeps_key.setChecked(False)
        self._answer, self._has_kept_key = None, False
        self.verdict.set_text("")
        self._show_facts()
        self._enable()

    def _on_keep(self) -> None:
        """Remove the key from the keyring if it is there."""
        server = self._spec()
        if self._has_kept_key and not self.keeps_key.isChecked() and server is not None:
            self.key_removed.emit(KeepServerKey(server.address, ""))

    def _on_attach(self) -> None:
        server, key = self._spec(), self.key.text().strip()
        if server is not None and key and self.keeps_key.isChecked():
            self.key_kept.emit(KeepServerKey(server.address, key))
        else:
            self._attach()

    def _attach(self) -> None:
        server, answer = self._spec(), self._answer
        if server is None or answer is None or answer.identity is None:
            return
        if server.model == answer.identity.model:  # the server's own choice need not be named
            server = ServerSpec(server.address, "", server.tokenizer)
        self.attached.emit(str(server), self.key.text().strip())
        self.accept()

    def _choose_tokenizer(self) -> None:
        dialog = QFileDialog(self, ui_text("window.model.tokenizer_title"))
        dialog.setNameFilter(ui_text("window.model.tokenizer_filter", patterns="*.json *.tiktoken *.model"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.tokenizer.setText)
        dialog.open()

    def _show_facts(self) -> None:
        """Show the capabilities of the server that answered."""
        content = QWidget()
        grid = QGridLayout(content)
        grid.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        grid.setHorizontalSpacing(theme.SPACE_S)
        grid.setVerticalSpacing(theme.SPACE_S)
        grid.setColumnStretch(1, 1)
        found = self._answer.identity if self._answer is not None else None
        if found is None:
            teaching = Label(ui_text("dialogs.attach.teaching", variable=KEY_VARIABLE), wraps=True)
            teaching.setProperty("role", "muted")
            grid.addWidget(teaching, 0, 0, 1, 2)
        else:
            for row, (can, text) in enumerate(_abilities(found)):
                _add_line(grid, row, can, text)
        grid.setRowStretch(grid.rowCount(), 1)
        self.facts.setWidget(content)

    def _enable(self) -> None:
        answer = self._answer
        can_step = answer is not None and answer.can_step
        needs_tokenizer = answer is not None and answer.lacks_tokenizer
        self.bar.setVisible(self.is_asking)
        self.ask_button.setText(ui_text("common.button.cancel" if self.is_asking else "dialogs.attach.ask"))
        for of_model in (self._model_label, self.model):
            of_model.setVisible(self.model.count() > 0 and answer is not None)
        for of_tokenizer in (self._tokenizer_label, self.tokenizer, self.choose_button):
            of_tokenizer.setVisible(needs_tokenizer)
        self.keeps_key.setEnabled(bool(self.key.text().strip()) or self._has_kept_key)
        self.attach_button.setEnabled(can_step and (not needs_tokenizer or bool(self.tokenizer.text().strip())))
        self.attach_button.setDefault(self.attach_button.isEnabled())

    def _set_up(self) -> None:
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setPlaceholderText(ui_text("dialogs.attach.key_hint"))
        self.bar.setFixedHeight(_BAR)
        self.facts.setWidgetResizable(True)
        self.facts.setFrameShape(QFrame.Shape.NoFrame)
        self.facts.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        named = ((self.address, "address"), (self.key, "key"), (self.model, "model"), (self.tokenizer, "tokenizer"))
        for widget, name in named:
            widget.setAccessibleName(ui_text(f"dialogs.attach.{name}"))
            widget.setObjectName(f"attach-{name}")
        self.keeps_key.setToolTip(ui_text("dialogs.attach.keep_tip"))
        self.facts.setAccessibleName(ui_text("dialogs.attach.capabilities"))
        edit = self.address.lineEdit()
        assert edit is not None
        edit.returnPressed.connect(self._on_ask)
        self.key.returnPressed.connect(self._on_ask)
        self.address.editTextChanged.connect(lambda _text: self._on_address())
        self.key.textChanged.connect(lambda _text: self._enable())
        self.keeps_key.clicked.connect(self._on_keep)
        self.tokenizer.textChanged.connect(lambda _text: self._enable())
        self.ask_button.clicked.connect(self._on_ask)
        self.choose_button.clicked.connect(self._choose_tokenizer)
        self.attach_button.clicked.connect(self._on_attach)
        self.finished.connect(lambda _result: self.cancelled.emit() if self.is_asking else None)

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        form = QGridLayout()
        layout.addLayout(form)
        form.setHorizontalSpacing(theme.SPACE_S)
        form.setVerticalSpacing(theme.SPACE_S)
        form.setColumnStretch(1, 1)
        form.addWidget(Label(ui_text("dialogs.attach.address")), 0, 0)
        form.addWidget(self.address, 0, 1)
        form.addWidget(self.ask_button, 0, 2)
        form.addWidget(Label(ui_text("dialogs.attach.key")), 1, 0)
        form.addWidget(self.key, 1, 1, 1, 2)
        form.addWidget(self.keeps_key, 2, 1, 1, 2)
        form.addWidget(self._model_label, 3, 0)
        form.addWidget(self.model, 3, 1, 1, 2)
        form.addWidget(self._tokenizer_label, 4, 0)
        form.addWidget(self.tokenizer, 4, 1)
        form.addWidget(self.choose_button, 4, 2)
        well = QFrame()
        well.setProperty("role", "well")
        inner = QVBoxLayout(well)
        inner.setContentsMargins(2, 2, 2, 2)
        inner.addWidget(self.facts)
        for widget in (self.remote, self.bar, self.verdict):
            layout.addWidget(widget)
        layout.addWidget(well, 1)
        buttons = QHBoxLayout()
        layout.addLayout(buttons)
        buttons.addStretch()
        close = push_button(ui_text("common.button.close"), clicked=self.reject)
        buttons.addWidget(close)
        buttons.addWidget(self.attach_button)


def _abilities(found: ServerIdentity) -> Iterator[tuple[bool | None, str]]:
    """Yield what a server can do: True, False, or None for unknown, and the sentence."""
    can, length = found.capabilities, found.context_length
    if length is None:
        yield None, ui_text("dialogs.attach.can.context_unknown")
    else:
        yield True, ui_text("dialogs.attach.can.context", count=length)
    match can.distribution, can.most_listed:
        case Distribution.FULL, _:
            yield True, ui_text("dialogs.attach.can.full")
        case Distribution.TOP, None:
            yield False, ui_text("dialogs.attach.can.top_open")
        case Distribution.TOP, most:
            yield False, ui_text("dialogs.attach.can.top", count=most)
        case _:
            yield False, ui_text("dialogs.attach.can.no_distribution")
    if can.distribution is not Distribution.NONE:
        is_before = {MaskOrder.BEFORE: True, MaskOrder.AFTER: False, MaskOrder.UNKNOWN: None}[can.order]
        yield is_before, ui_text(f"dialogs.attach.can.{can.order}_mask")
    flags = {
        "ids": can.gives_ids,
        "bytes": can.gives_bytes,
        "takes_mask": can.takes_mask,
        "shows_mask": can.shows_mask,
        "template": can.applies_template,
    }
    for name, flag in flags.items():
        yield flag, ui_text(f"dialogs.attach.can.{name}_{_ANSWERS[flag]}")


def _add_line(grid: QGridLayout, row: int, can: bool | None, text: str) -> None:
    icon = IconLabel(_ICON)
    if can is None:
        icon.show_icon("ph.question", theme.Role.MUTED)
    elif can:
        icon.show_icon("ph.check-circle-fill", theme.Role.ALLOWED)
    else:
        icon.show_icon("ph.prohibit", theme.Role.MUTED)
    grid.addWidget(icon, row, 0, Qt.AlignmentFlag.AlignTop)
    grid.addWidget(Label(text, wraps=True), row, 1)
