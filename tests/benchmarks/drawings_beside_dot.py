"""Draw 12 automata from 5 to 5,000 states as the pane shows them at first, each beside Graphviz dot's drawing.

    python tests/benchmarks/drawings_beside_dot.py FOLDER [--dark] [--all] [name…]

Writes one PNG per automaton, for people to compare: our drawing at its first view and fitted at the left, dot's at the
right, which gets the same nodes, edges and labels. `--all` draws every state. `QT_SCALE_FACTOR=1.5` sets the device
pixel ratio. dot is left out above 600 nodes, for which it takes minutes.
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parents[2]))

import pygraphviz
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from app import theme
from app.graph.draw.image_files import dot_of
from app.graph.layout.methods import lay_out
from app.graph.layout.types import LayoutRequest
from app.graph.match.counters import merge
from app.graph.match.folding import fold_characters
from app.graph.match.regions import regions_of
from app.panes.automaton.pane import AutomatonPane
from app.panes.automaton.view_state import ViewState
from engine.compile import compile_grammar
from tests.app.graph.layout.test_labelling import PATTERNS
from tests.app.graph.layout.test_overlaps import HARD

SIZE = 720, 620
MOST_OF_DOT = 600  # nodes


def words(count: int, seed: int) -> str:
    """Return random words of which many share beginnings."""
    choose = random.Random(seed)
    return "|".join(
        sorted({"".join(choose.choice("abcdeiorst") for _ in range(choose.randint(4, 9))) for _ in range(count)})
    )


EXPRESSIONS = {
    "01 five states": "(a|b)*abb",
    "02 date": r"(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
    "03 back edges": HARD["back edges"],
    "04 loops": HARD["loops"],
    "05 complete": HARD["complete DFA"],
    "06 fan-out": HARD["fan-out"],
    "07 number": HARD["number of json.gbnf"],
    "08 words": PATTERNS["45 states"],
    "09 many words": PATTERNS["many words"],
    "10 dense": "(a|b)*a(a|b){6}",
    "11 thousand": words(320, 3),
    "12 five thousand": words(4_200, 5),
}


def shown(expression: str, view: ViewState) -> AutomatonPane:
    """Return a pane that shows the automaton of an expression."""
    pane = AutomatonPane()
    pane.resize(*SIZE)
    pane.show()
    times = []

    def answer(request: LayoutRequest) -> None:
        started = time.process_time()
        found = lay_out(request)
        times.append(f"{found.method} {(time.process_time() - started) * 1000:.0f} ms, {len(found.marks)} marks")
        pane.show_layout(found)

    pane.layout_wanted.connect(answer)
    grammar = compile_grammar("regex", expression)
    dfa = grammar.materialise()
    fold = fold_characters(dfa)
    assert grammar.grammar is not None
    regions = regions_of(dfa, fold, grammar.grammar.rules[0].node, grammar.source)
    pane.begin(view)
    pane.show_dfa(dfa, 1, None, grammar.source, fold, None, regions, merge(dfa, fold))
    pane.scene.static_layer.finish()
    excerpt = pane.scene.diagram.excerpt if pane.scene.diagram else None
    count = 0 if excerpt is None else len(excerpt.states)
    sys.stdout.write(f"  {len(dfa.states)} states, {count} nodes drawn, {'; '.join(times)}\n")
    return pane


def dot_picture(pane: AutomatonPane, folder: Path) -> QImage:
    """Return dot's drawing of what a pane shows; an empty picture if it is too large for it."""
    if pane.scene.diagram is None or len(pane.scene.diagram.excerpt.states) > MOST_OF_DOT:
        return QImage(10, 10, QImage.Format.Format_RGB32)
    path = folder / "dot.png"
    pygraphviz.AGraph(string=dot_of(pane.scene)).draw(str(path), prog="dot")
    return QImage(str(path))


def main() -> None:
    """Write the pictures."""
    arguments = sys.argv[1:]
    folder, *names = [word for word in arguments if not word.startswith("--")]
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    application = QApplication(sys.argv[:1])
    theme.apply(application, "dark" if "--dark" in arguments else "light")
    for name, expression in EXPRESSIONS.items():
        if names and not any(name.startswith(wanted) for wanted in names):
            continue
        sys.stdout.write(f"{name}\n")
        pane = shown(expression, ViewState(draws_all="--all" in arguments))
        application.processEvents()
        first = pane.grab().toImage()
        pane.view.fit()
        application.processEvents()
        pictures = [first, pane.grab().toImage(), dot_picture(pane, target)]
        sheet = QImage(3 * SIZE[0], SIZE[1], QImage.Format.Format_RGB32)
        sheet.fill("white")
        painter = QPainter(sheet)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for number, picture in enumerate(pictures):
            scale = min(SIZE[0] / picture.width(), SIZE[1] / picture.height(), 1.0)
            box = QRectF(number * SIZE[0], 0, picture.width() * scale, picture.height() * scale)
            painter.drawImage(box, picture)
        painter.end()
        sheet.save(str(target / f"{name.replace(' ', '-')}.png"))
        pane.close()


main()
