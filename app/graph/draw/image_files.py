"""Exports of a drawing: SVG and PNG of the picture, DOT of its graph.

Qt could write the files itself, but does not report a full disk, and has emptied the file by then. So each is made in
memory and then written atomically.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from app.catalogue import ui_text
from app.graph.draw.scene import AutomatonScene
from app.storage import write_atomically

SUFFIXES = (".svg", ".png", ".dot")
_SCALE = 2.0  # of a PNG, so that it is sharp on screens with small pixels
_MOST_PIXELS = 60_000_000


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing that can be written to a file.

    Attributes:
        size: its width and height.
        title: its title.
        description: what it was made with.
        background: its colour.
        paint: paints it into a rectangle.
    """

    size: QSizeF
    title: str
    description: str
    background: QColor
    paint: Callable[[QPainter, QRectF], object]


def save(scene: AutomatonScene, path: Path) -> str:
    """Write a file in the format of its suffix; return why that was impossible, or an empty text."""
    if path.suffix.lower() in SUFFIXES and scene.diagram is None:
        return ui_text("graph.save.no_drawing")
    scene.static_layer.finish()
    scene.reveal(scene.sceneRect(), 1.0)
    picture = Picture(
        scene.sceneRect().size(),
        ui_text("common.word.automaton"),
        ui_text("graph.save.description"),
        scene.backgroundBrush().color(),
        partial(_paint, scene),
    )
    return save_picture(picture, path, {".dot": lambda: dot_of(scene).encode()})


def save_picture(picture: Picture, path: Path, others: Mapping[str, Callable[[], bytes]] = MappingProxyType({})) -> str:
    """Write a picture in the format of the file's suffix; return why that was impossible, or an empty text.

    Args:
        picture: the picture.
        path: the file.
        others: further formats by suffix.
    """
    writers: dict[str, Callable[[], bytes]] = {".svg": partial(_svg, picture), ".png": partial(_png, picture), **others}
    writer = writers.get(path.suffix.lower())
    if writer is None:
        return ui_text("graph.save.unknown_suffix", name=path.name, suffixes=", ".join(writers))
    try:
        write_atomically(path, writer(), is_shared=True)
    except OSError as error:
        return ui_text("graph.save.failed", name=path.name, reason=error.strerror or error)
    return ""


def dot_of(scene: AutomatonScene) -> str:
    """Return the drawn graph in Graphviz' language, with its labels."""
    diagram = scene.diagram
    if diagram is None:
        return ""
    lines = ["digraph automaton {", "  rankdir=LR;", "  node [shape=circle];", "  edge [arrowsize=0.7];"]
    if diagram.start in diagram.excerpt.states:
        lines += ['  start [shape=point, label=""];', f"  start -> {_node(diagram.start)};"]
    for state in diagram.excerpt.states:
        attributes = [f"label={_dot_string(diagram.names.get(state, str(state)))}"]
        if state in diagram.folded:
            attributes.append(f"shape=box, peripheries={2 if state in diagram.accepting else 1}")
        elif state in diagram.accepting:
            attributes.append("shape=doublecircle")
        if state in scene.highlights.live:
            attributes.append("penwidth=3")
        lines.append(f"  {_node(state)} [{', '.join(attributes)}];")
    for node, (state, text) in diagram.stubs().items():
        lines.append(f"  more{-node} [label={_dot_string(text)}, style=dashed];")
        lines.append(f"  {_node(state)} -> more{-node};")
    for (source, target), label in diagram.labels.items():
        style = ", style=dashed" if (source, target) in diagram.calls else ""
        lines.append(f"  {_node(source)} -> {_node(target)} [label={_dot_string(label)}{style}];")
    return "\n".join([*lines, "}", ""])


def _node(state: int | None) -> str:
    return f"s{state}"


def _dot_string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _svg(picture: Picture) -> bytes:
    from PySide6.QtSvg import QSvgGenerator  # no window needs it before

    rect = QRectF(QPointF(0, 0), picture.size)
    data, buffer = _buffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(rect.size().toSize())
    generator.setViewBox(rect)
    generator.setTitle(picture.title)
    generator.setDescription(picture.description)
    painter = QPainter(generator)
    picture.paint(painter, rect)
    painter.end()
    return bytes(data.data())


def _png(picture: Picture) -> bytes:
    width, height = picture.size.width(), picture.size.height()
    scale = min(_SCALE, (_MOST_PIXELS / max(1.0, width * height)) ** 0.5)
    image = QImage(QSize(round(width * scale), round(height * scale)), QImage.Format.Format_ARGB32)
    image.fill(picture.background)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    picture.paint(painter, QRectF(QRect(0, 0, image.width(), image.height())))
    painter.end()
    data, buffer = _buffer()
    if not image.save(buffer, "PNG"):  # type: ignore[call-overload]  # its stubs want bytes, which it refuses
        raise OSError("the picture could not be encoded")
    return bytes(data.data())


def _buffer() -> tuple[QByteArray, QBuffer]:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    return data, buffer


def _paint(scene: AutomatonScene, painter: QPainter, target: QRectF) -> None:
    scene.render(painter, target, scene.sceneRect(), Qt.AspectRatioMode.KeepAspectRatio)
