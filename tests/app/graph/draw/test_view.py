"""The view's own geometry, over a scene whose size a test chooses."""

import pytest
from PySide6.QtCore import QRectF

from app import theme
from app.graph.draw.scene import AutomatonScene
from app.graph.draw.view import GraphView

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
