"""*Compare*: the engines and servers whose masks are shown beside the candidates, in a popover."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text
from app.workers.requests.engine_masks import EngineChoice
from engine.servers.client import is_remote, server_address
from engine.source import EngineError
from engine.source.catalogue import capitalised

_FIELD = 270  # pixels


class ComparePopover(QFrame):
    """Asks for the engines to compare with.

    Signals:
        chosen(engines): a tuple of `EngineChoice`.

    Attributes:
        boxes: the box of each engine that is offered.
        address: the field for the address of a server.
        message: why an address is refused, or what an engine or a server means.
    """

    chosen = Signal(tuple)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "card")
        self.setAccessibleName(ui_text("generation.compare.heading"))
        self.boxes: dict[EngineChoice, QCheckBox] = {}
        self.address = QLineEdit(placeholderText=ui_text("generation.compare.address_hint"))
        self.address.setAccessibleName(ui_text("generation.compare.address"))
        self.address.setToolTip(plain_text(ui_text("generation.compare.address_tip")))
        self.address.setMinimumWidth(_FIELD)
        self.add = push_button(ui_text("generation.compare.add"), clicked=self._add_typed)
        self.message = Label(ui_text("generation.compare.none_installed"))
        self.message.setProperty("role", "muted")
        self.message.setWordWrap(True)
        self._list = QVBoxLayout()
        self._list.setSpacing(theme.SPACE_XS)
        heading = Label(ui_text("generation.compare.heading"))
        heading.setProperty("role", "heading")
        row = QHBoxLayout()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(heading)
        layout.addLayout(self._list)
        layout.addLayout(row)
        row.addWidget(self.address, 1)
        row.addWidget(self.add)
        layout.addWidget(self.message)

    @property
    def engines(self) -> tuple[EngineChoice, ...]:
        """Return the chosen engines."""
        return tuple(engine for engine, box in self.boxes.items() if box.isChecked())

    def choose(self, engines: tuple[EngineChoice, ...]) -> None:
        """Check these engines, and no others; what is not offered yet is added."""
        for engine in engines:
            self._offer(engine, engine.name)
        for engine, box in self.boxes.items():
            box.blockSignals(True)
            box.setChecked(engine in engines)
            box.blockSignals(False)

    def show_installed(self, engines: tuple[tuple[str, str], ...]) -> None:
        """Offer the installed engines: pairs of a name and a version. Others that were offered are removed."""
        names = {name for name, _ in engines}
        for engine in [one for one in self.boxes if not one.is_server and one.name not in names]:
            self.boxes.pop(engine).deleteLater()
        for name, version in engines:
            self._offer(EngineChoice(name), f"{name} {version}")
        self.message.setText("" if engines else ui_text("generation.compare.none_installed"))
        self.message.setVisible(not engines)
        self.chosen.emit(self.engines)

    def open_under(self, widget: QWidget) -> None:
        """Open below a button."""
        self.adjustSize()
        self.move(widget.mapToGlobal(QPoint(widget.width() - self.width(), widget.height() + theme.SPACE_XS)))
        self.show()

    def showEvent(self, event: QShowEvent) -> None:
        """Focus the first engine, or the field."""
        super().showEvent(event)
        next(iter(self.boxes.values()), self.address).setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Add the typed server on Return."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.address.hasFocus():
            self._add_typed()
        else:
            super().keyPressEvent(event)

    def _offer(self, engine: EngineChoice, label: str) -> None:
        if engine not in self.boxes:
            box = self.boxes[engine] = QCheckBox(label)
            box.toggled.connect(lambda _on: self.chosen.emit(self.engines))
            self._list.addWidget(box)

    def _add_typed(self) -> None:
        """Add the typed server and compare with it."""
        try:
            address = server_address(self.address.text().strip())
        except EngineError as error:
            self._say(capitalised(str(error)))
            return
        engine = EngineChoice(address, is_server=True)
        self._offer(engine, address)
        self.address.clear()
        self._say(ui_text("generation.compare.remote") if is_remote(address) else "")
        self.boxes[engine].setChecked(True)
        self.adjustSize()

    def _say(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))
        self.adjustSize()
