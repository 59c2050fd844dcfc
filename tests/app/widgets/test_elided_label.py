"""One line that is shortened where its text does not fit."""

import pytest
from PySide6.QtGui import QAccessible

from app.widgets.elided_label import ElidedLabel


@pytest.fixture
def label(qtbot):
    made = ElidedLabel(fills=True)
    qtbot.addWidget(made)
    made.show()
    return made


def width_of(label, text: str) -> int:
    return label.fontMetrics().horizontalAdvance(text)


def test_the_first_text_that_fits_is_drawn_and_the_whole_one_is_kept(label):
    label.set_text("Ten states\nand 20 edges", "Ten states", "10")
    for text in ("Ten states and 20 edges", "Ten states", "10"):
        label.resize(width_of(label, text) + 1, label.height())
        assert label.shown_text == text
        assert label.text() == "Ten states and 20 edges"
        assert label.toolTip() == ("" if text == label.text() else label.text())
    assert QAccessible.queryAccessibleInterface(label).text(QAccessible.Text.Name) == label.text()


def test_the_last_text_is_cut_where_it_does_not_fit_either(label):
    label.set_text("Ten states and 20 edges", "Ten states")
    label.resize(width_of(label, "Ten st…") + 1, label.height())
    assert label.shown_text.endswith("…")
    assert "Ten states".startswith(label.shown_text[:-1])


def test_another_text_has_no_shorter_form_of_the_last_one(label):
    label.set_text("Ten states and 20 edges", "10")
    label.setText("Nothing is drawn here")
    label.resize(width_of(label, "10") + 1, label.height())
    assert label.shown_text != "10"
