"""Letters of other scripts are laid out ahead, one after the other, and then no more."""

from app.widgets.font_warming import FontWarming


def test_every_letter_is_laid_out_and_then_it_rests(qtbot, qapp):
    warming = FontWarming(qapp)
    assert warming.is_done
    warming.start()
    assert not warming.is_done
    qtbot.waitUntil(lambda: warming.is_done)
    qtbot.waitUntil(lambda: not warming.is_running)
    warming.deleteLater()
