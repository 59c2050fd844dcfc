"""The view's own geometry, over a scene whose size a test chooses."""

import pytest
from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QImage, QPainter

from app import theme
from app.graph.draw.scene import LABELS_FROM_ZOOM, AutomatonScene
from app.graph.draw.view import GraphView
from tests.app.graph.draw.test_scene import drawn

HOME = QRectF(0, 0, 400, 300)


class Sized(AutomatonScene):
    def home_rect(self):
        return HOME


class Counted(GraphView):
    resized = 0

    def resizeEvent(self, event):  # noqa: N802
        self.resized += 1
        if self.resized > 50:
            self.is_at_home = False  # which ends what would go on for ever
        super().resizeEvent(event)


@pytest.mark.parametrize(("share", "fits"), [(0.65, True), (0.5, False)])
def test_a_drawing_that_fits_with_its_labels_opens_whole(qtbot, qapp, share, fits):
    theme.apply(qapp, "light")
    view = GraphView(Sized())
    view.scene().setSceneRect(HOME)
    qtbot.addWidget(view)
    view.resize(round(HOME.width() * share) + 2, round(HOME.height() * share) + 2)
    view.show()
    view.go_home(None)
    assert view.zoom >= LABELS_FROM_ZOOM
    assert view.visible_rect.adjusted(-3, -3, 3, 3).contains(HOME) == fits


@pytest.mark.parametrize("wider", [1.0, 1.02, 1.05, 1.1])
def test_scroll_bars_come_to_rest_where_the_scene_reaches_beyond_home(qtbot, qapp, wider):
    # What was seen before stays in the scene. A bar under it took height, so the drawing got smaller and the bar went,
    # so the drawing got larger and the bar came again; found by the random user.
    theme.apply(qapp, "light")
    view = Counted(Sized())
    qtbot.addWidget(view)
    view.show()
    for width in range(396, 450, 3):
        view.scene().setSceneRect(0, 0, HOME.width() * wider, HOME.height())
        view.resized = 0
        view.resize(width, 300)
        qtbot.turns()
        assert view.resized < 10


@pytest.mark.parametrize(("ratio", "is_opaque"), [(1.0, True), (1.25, False), (2.0, True)])
def test_pixels_that_are_partly_outside_are_painted_with_what_is_below(qtbot, qapp, monkeypatch, ratio, is_opaque):
    view = GraphView(Sized())
    qtbot.addWidget(view)
    view.show()
    monkeypatch.setattr(view, "devicePixelRatioF", lambda: ratio)
    qapp.sendEvent(view, QEvent(QEvent.Type.DevicePixelRatioChange))
    assert view.viewport().testAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent) is is_opaque


@pytest.fixture(scope="module")
def large(qapp):
    """A view of a drawing whose lines are painted from a picture, with all of them drawn."""
    theme.apply(qapp, "light")
    scene, _, _ = drawn(400)
    scene.static_layer.finish()
    assert scene.static_layer.is_large
    view = GraphView(scene)
    view.resize(300, 240)
    view.show()
    yield view
    view.close()


def seen(view: GraphView) -> QImage:
    return view.grab().toImage()


def fresh(view: GraphView) -> QImage:
    """Return the picture of a view at the same position that never moved."""
    view.scene().static_layer.recolour(is_stale=False)
    return seen(view)


def test_lines_that_were_scrolled_are_those_that_are_painted_there(large, qtbot):
    large.zoom_to_one()
    for x, y in ((40, 10), (-25, 7), (0, 60)):
        seen(large)
        large.horizontalScrollBar().setValue(large.horizontalScrollBar().value() + x)
        large.verticalScrollBar().setValue(large.verticalScrollBar().value() + y)
        assert seen(large) == fresh(large)
    qtbot.waitUntil(lambda: bool(large.renderHints() & QPainter.RenderHint.Antialiasing))
    assert seen(large) == fresh(large)


def test_lines_that_were_scaled_while_the_view_zoomed_are_sharp_after_it(large, qtbot):
    large.zoom_to_one()
    qtbot.waitUntil(lambda: bool(large.renderHints() & QPainter.RenderHint.Antialiasing))
    seen(large)
    large.zoom_out()
    rough = seen(large)
    assert rough != fresh(large)
    large.zoom_in()
    seen(large)
    qtbot.waitUntil(lambda: bool(large.renderHints() & QPainter.RenderHint.Antialiasing))
    assert seen(large) == fresh(large)
