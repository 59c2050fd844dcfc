from PySide6.QtCore import Qt

from app.window.export_dialog import ExportDialog
from app.window.gallery_dialog import GalleryDialog
from app.window.palette import CommandPalette, matches
from app.workers.messages import ExportAnswer


def test_the_gallery_opens_an_example(desk, monkeypatch):
    desk.open("a+b")

    def choose(dialog):
        dialog.show()
        dialog.list.setCurrentRow(1)
        desk.qtbot.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)
        return dialog.result()

    monkeypatch.setattr(GalleryDialog, "exec", choose)
    desk.window.files.open_gallery()
    assert desk.document.title == "A date in ISO 8601"
    assert desk.panes.editor.text() == desk.document.content.grammar.text
    assert not desk.document.is_modified


def test_a_card_of_the_gallery_is_as_high_as_its_text(desk):
    dialog = GalleryDialog(desk.window)
    for row in range(dialog.list.count()):
        card = dialog.list.itemWidget(dialog.list.item(row))
        assert card.height() >= card.layout().totalHeightForWidth(card.width())


def test_the_palette_finds_and_runs_a_command(desk):
    desk.open("a{3}")
    palette = CommandPalette(desk.window.commands, desk.window)
    palette.show()
    desk.qtbot.keyClicks(palette.field, "rnstp")
    assert palette.list.item(0).text().startswith("Run: Step")
    desk.qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    desk.wait(lambda: desk.output == b"a")


def test_the_palette_says_when_nothing_matches(desk):
    palette = CommandPalette(desk.window.commands, desk.window)
    palette.field.setText("zzz")
    assert palette.list.item(0).text() == "No command matches"
    desk.qtbot.keyClick(palette.field, Qt.Key.Key_Return)


def test_letters_match_in_order():
    assert matches("rst", "Run: Step")
    assert matches("run step", "Run: Step")
    assert not matches("tsr", "Run: Step")


def test_the_export_dialog_previews_both_targets_and_writes(desk, tmp_path):
    desk.open("a+b")
    dialog = desk.window.open_export()
    desk.wait(lambda: "turnstile-token-index" in dialog.preview.toPlainText())
    desk.qtbot.mouseClick(dialog.findChild(type(dialog._choices.buttons()[0]), "dot"), Qt.MouseButton.LeftButton)
    desk.wait(lambda: dialog.preview.toPlainText().startswith("digraph"))
    path = tmp_path / "graph.dot"
    dialog.write(str(path))
    desk.wait(lambda: dialog._note.text().startswith("Wrote graph.dot"))
    assert path.read_text().startswith("digraph")
    dialog.close()


def test_an_export_that_waits_says_for_what(desk):
    desk.open("[a-z]*")
    desk.session.decoding.sample_many(10_000)
    dialog = desk.window.open_export()
    assert dialog._note.text().startswith("Waits for the many seeds")
    desk.session.cancel_background()
    dialog.ask()
    assert dialog._note.text() == "Preparing the preview…"
    desk.wait(lambda: "turnstile-token-index" in dialog.preview.toPlainText())
    dialog.close()


def test_an_export_without_a_model_offers_the_graph(qtbot):
    dialog = ExportDialog("x", has_model=False)
    qtbot.addWidget(dialog)
    assert dialog.target == "dot"
    dialog.ask()
    dialog.show_answer(ExportAnswer("dot", "", error="Nothing to export: too large"))
    assert "too large" in dialog._note.text()
    assert not dialog.write_button.isEnabled()
