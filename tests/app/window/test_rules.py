"""A grammar whose rules nest, in the whole window with its worker processes."""

from __future__ import annotations

from catalogue_texts import shows
from model_doubles import LETTERS

from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart, ModelPart

ARITHMETIC = 'root ::= expr "="\nexpr ::= term ("+" term)*\nterm ::= "a" | "(" expr ")"'


def test_each_rule_is_drawn_and_a_step_moves_the_light(desk):
    desk.open(ARITHMETIC, notation="gbnf")
    pane = desk.panes.automaton

    def lit():
        scene = pane.view.scene()
        return {pane.navigation.automaton.name(state) for state in scene.highlights.live} if scene.diagram else set()

    desk.wait(lambda: lit() == {"term 0"})
    assert [title for title, _ in pane.view.scene().diagram.groups] == ["root", "expr", "term"]
    for char, expected in (("(", {"term 0"}), ("a", {"expr 1", "term 3"})):
        desk.session.decoding.take(LETTERS.index(char.encode()))
        desk.wait(lambda expected=expected: lit() == expected)
    assert "3 rules · 9 states" in desk.window.statusBar().texts[0]
    desk.session.decoding.take(LETTERS.index(b"="))  # not allowed here
    pane.navigation.show_rule("term")
    desk.wait(lambda: lit() == {"3"})
    desk.panes.editor.edit.setPlainText(ARITHMETIC.replace('"a"', '"a" | "b"'))
    desk.wait(lambda: pane.view.scene().diagram.labels.get((0, 2)) == "[ab]")
    assert pane.level_bar.rule_box.currentText() == "term"
    desk.wait(lambda: lit() == {"3"})  # the output is still legal, and so is its place


LETTER = '{"type": "object", "properties": {"a": {"$ref": "#"}}, "additionalProperties": false}'


def test_a_schema_is_drawn_by_its_rules_and_a_step_moves_the_light(desk):
    desk.session.start()
    schema = GrammarPart(notation="json_schema", text=LETTER, whitespace="any")
    desk.document.replace(DocumentFile(grammar=schema, model=ModelPart("letters")))
    pane = desk.panes.automaton

    def lit():
        scene = pane.view.scene()
        return {scene.diagram.labels[key] for key in scene.highlights.next_edges} if scene.diagram else set()

    desk.wait(lambda: not desk.session.step_refusal and lit() == {"“{”"})
    assert pane.level_bar.rule_box.currentText() == ui_text("automaton.levels.all_rule", count=1)
    assert shows(pane.level_bar.note.text(), "export.note.fragment.plain")
    for char, expected in (("{", {'"a":', "“}”"}), ('"', {'"a":'}), ("a", {'"a":'})):
        desk.session.decoding.take(LETTERS.index(char.encode()))
        desk.wait(lambda expected=expected: lit() == expected)
    desk.panes.editor.edit.setPlainText('{"uniqueItems": true}')
    desk.wait(
        lambda: shows(pane.size_banner.text(), "diagnostics.export-not-context-free.message", where="/uniqueItems")
    )
    assert not pane.level_bar.rule_box.isVisible()
    desk.wait(lambda: pane.view.scene().diagram.groups == ())
