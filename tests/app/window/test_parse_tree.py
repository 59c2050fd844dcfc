"""The parse tree in the window: it grows with the output, and is joined with output and grammar."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QListWidget, QPushButton, QToolButton

from app.panes.parse_tree.pane import ParseTreePane
from engine.source import Span

GRAMMAR = 'root ::= sum\nsum ::= sum "+" sum | num\nnum ::= [0-9]+ | "(" sum ")"\n'


def choose(desk, pane, row: int) -> None:
    texts = pane.findChild(QComboBox, "parse-texts")
    texts.setFocus()
    while texts.currentIndex() < row:
        QTest.keyClick(texts, Qt.Key.Key_Down)
    desk.wait(lambda: texts.currentIndex() == row)


def test_the_tree_grows_and_is_joined_with_output_and_grammar(desk) -> None:
    desk.open(GRAMMAR, notation="gbnf")
    QTest.keyClick(desk.window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(desk.window, Qt.Key.Key_T)
    desk.wait(lambda: desk.window.findChild(ParseTreePane) is not None)
    pane = desk.window.findChild(ParseTreePane)
    first, second = pane.panels
    model, tree, icicle = first.model, first.tree, first.icicle
    desk.wait(lambda: bool(model.nodes))
    for at, letter in enumerate("1+(2", 1):
        desk.session.decoding.choose(ord(letter) - ord(" "))
        desk.wait(lambda at=at: model.legal == at)
    assert second.isHidden()
    titles = [model.title(node) for node in range(len(model.nodes))]
    assert titles[:2] == ["root", "sum"]
    assert titles.count("num") == 3

    # A node marks its source and its bytes; a token of the output and the cursor of the grammar select a node.
    spans, marked = [], []
    desk.session.links.spans_hovered.connect(spans.append)
    desk.session.links.output_pointed.connect(marked.append)
    node = titles.index("num")
    rect = tree.visualRect(model.index_of(node))
    tree.scrollTo(model.index_of(node))
    rect = tree.visualRect(model.index_of(node))
    QTest.mouseMove(tree.viewport(), QPoint(rect.left() + 5, rect.center().y()))
    desk.wait(lambda: bool(marked) and marked[-1] == (0, 1))
    assert Span(GRAMMAR.index("num ::="), GRAMMAR.index(" ::= [0")) in spans[-1]
    desk.session.links.output_hovered.emit((1, 2))
    assert model.words(model.node_of(tree.currentIndex())) == "+"
    cursor = desk.panes.editor.edit.textCursor()
    cursor.setPosition(GRAMMAR.index('"("') + 1)
    desk.panes.editor.edit.setTextCursor(cursor)
    assert model.words(model.node_of(tree.currentIndex())) == "("

    # The icicle has the same nodes, and keys go from one to the next.
    desk.qtbot.mouseClick(pane.findChild(QToolButton, "parse-form"), Qt.MouseButton.LeftButton)
    icicle.select(0)
    QTest.keyClick(icicle, Qt.Key.Key_Down)
    assert icicle.current == 1
    assert icicle.node_at(icicle.rect_of(1).center().toPoint()) == 1

    # A refused text has failed attempts; an ambiguous one two trees.
    desk.session.test_runs.add_text("1+x")
    choose(desk, pane, 1)
    attempts = pane.findChild(QListWidget, "parse-attempts")
    desk.wait(lambda: attempts.count() == 1)
    assert model.legal == 2
    desk.qtbot.mouseClick(pane.findChild(QPushButton, "parse-search"), Qt.MouseButton.LeftButton)
    desk.wait(lambda: bool(second.model.nodes))
    assert not second.isHidden()
    assert model.nodes != second.model.nodes
    assert model.text == second.model.text == b"0+0+0"
