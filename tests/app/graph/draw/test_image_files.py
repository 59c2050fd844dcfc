"""What is seen, as files."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.catalogue import ui_text
from app.graph.draw.diagram import diagram_of, request_of
from app.graph.draw.image_files import dot_of, save
from app.graph.draw.scene import AutomatonScene
from app.graph.layout.methods import lay_out
from app.graph.match.neighbourhood import Surroundings
from engine.compile import compile_grammar


@pytest.fixture
def scene(qtbot: QtBot) -> AutomatonScene:
    """The surroundings of a state in a chain, with a stub behind them."""
    dfa = compile_grammar("regex", 'a"b{20}').materialise()
    excerpt = Surroundings(dfa).around([1])
    accepting = frozenset(state.id for state in dfa.states if state.accepting)
    picture = diagram_of(excerpt, start=0, accepting=accepting, label_of_edge=lambda edge: chr(edge.ranges[0][0]))
    request = request_of(picture, 1)
    scene = AutomatonScene()
    scene.show_diagram(picture, request, lay_out(request))
    scene.set_live({1})
    return scene


def test_an_svg_holds_every_text(scene: AutomatonScene, tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    assert save(scene, path) == ""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<?xml")
    assert set(re.findall(r"<text[^>]*>([^<]+)</text>", text)) >= {"0", "1", "2", "3", "+1", "a", "b"}


def test_a_png_is_twice_as_large_as_the_drawing(scene: AutomatonScene, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    assert save(scene, path) == ""
    image = QImage(str(path))
    assert image.width() == round(scene.sceneRect().width() * 2)
    ground = scene.backgroundBrush().color().rgb()
    assert any(image.pixel(x, image.height() // 2) != ground for x in range(image.width()))


def test_dot_says_what_is_drawn(scene: AutomatonScene, tmp_path: Path) -> None:
    path = tmp_path / "a.dot"
    assert save(scene, path) == ""
    text = path.read_text(encoding="utf-8")
    assert text == dot_of(scene)
    assert "start -> s0;" in text
    assert 's1 [label="1", penwidth=3];' in text
    assert 's1 -> s2 [label="“\\"”"];' in text
    assert "s3 -> more4;" in text


def test_what_cannot_be_written_is_told(scene: AutomatonScene, tmp_path: Path) -> None:
    assert ".svg, .png, .dot" in save(scene, tmp_path / "a.gif")
    for suffix in ("svg", "png", "dot"):
        assert "cannot be written" in save(scene, tmp_path / "no" / f"a.{suffix}")
    assert save(AutomatonScene(), tmp_path / "a.svg") == ui_text("graph.save.no_drawing")
    assert dot_of(AutomatonScene()) == ""


@pytest.mark.parametrize("suffix", ["svg", "png", "dot"])
def test_a_picture_that_cannot_be_finished_leaves_what_was_there(
    scene: AutomatonScene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    def is_full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / f"a.{suffix}"
    path.write_bytes(b"before")
    monkeypatch.setattr("os.fsync", is_full)
    assert save(scene, path) == f"a.{suffix} cannot be written: No space left on device"
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
