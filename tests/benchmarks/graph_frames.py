"""How long a frame of a large drawing takes, with the machine busy: milliseconds, median and 95th percentile.

    python tests/benchmarks/graph_frames.py [frames] [--cpu]

2,000 states and 5,000 edges are drawn as the pane draws them, and panned and zoomed, each frame painted at once. Beside
it two processes do nothing but reckon, as a compile and a model would. A frame is everything from the movement to the
painted viewport, offscreen; a screen adds what its own copying takes. `--cpu` counts the window's own time alone, for a
machine that others use too.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from PySide6.QtCore import QEventLoop  # noqa: E402 - after the path to it
from PySide6.QtWidgets import QApplication  # noqa: E402

from app import theme  # noqa: E402
from app.graph.draw.diagram import diagram_of, request_of  # noqa: E402
from app.graph.draw.scene import AutomatonScene  # noqa: E402
from app.graph.draw.view import GraphView  # noqa: E402
from app.graph.layout.methods import lay_out  # noqa: E402
from app.graph.match.neighbourhood import Surroundings  # noqa: E402
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState  # noqa: E402

STATES, EDGES = 2_000, 5_000
LIMIT_MS = 16.0
WORKERS = 2


def automaton() -> ByteDfa:
    """A tree with edges across, as an automaton of many words has them."""
    chosen = random.Random(7)
    pairs = {((state - 1) // 2, state) for state in range(1, STATES)}
    while len(pairs) < EDGES:
        source = chosen.randrange(STATES)
        pairs.add((source, min(STATES - 1, max(0, source + chosen.randrange(-40, 400)))))
    used = [0] * STATES
    edges = []
    for source, target in sorted(pairs):
        byte = used[source]
        used[source] += 1
        edges.append(DfaEdge(source, target, ((byte, byte),)))
    return ByteDfa(0, tuple(DfaState(state, state % 9 == 0) for state in range(STATES)), tuple(edges))


def reckon() -> None:
    """Be busy until ended."""
    while True:
        sum(range(100_000))


clock = time.thread_time if "--cpu" in sys.argv else time.perf_counter


def frames(app: QApplication, count: int, move: Callable[[], None]) -> list[float]:
    """What each of so many movements takes until it is painted, in milliseconds."""
    times = []
    for _ in range(count):
        app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents)
        begun = clock()
        move()
        app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents)  # which paints what the movement laid bare
        times.append((clock() - begun) * 1000)
    return times


def pan(view: GraphView, step: int) -> Callable[[], None]:
    """A movement to the right and down, which turns back at the end."""
    bars = view.horizontalScrollBar(), view.verticalScrollBar()
    way = dict.fromkeys(bars, step)

    def move() -> None:
        for bar in bars:
            if not bar.minimum() < bar.value() + way[bar] < bar.maximum():
                way[bar] = -way[bar]
            bar.setValue(bar.value() + way[bar])

    return move


def main() -> None:
    """Print the figures; the exit code says whether all are within the limit."""
    count = next((int(word) for word in sys.argv[1:] if word.isdecimal()), 200)
    app = QApplication([])
    theme.apply(app, "light")
    dfa = automaton()
    accepting = frozenset(state.id for state in dfa.states if state.accepting)
    picture = diagram_of(
        Surroundings(dfa).whole(), start=0, accepting=accepting, label_of_edge=lambda edge: f"{edge.ranges[0][0]:02X}"
    )
    request = request_of(picture, 1)
    begun = time.perf_counter()
    answer = lay_out(request)
    say(f"layout ({answer.method})", [(time.perf_counter() - begun) * 1000])
    scene = AutomatonScene()
    view = GraphView(scene)
    view.resize(800, 800)
    view.show()
    begun = time.perf_counter()
    scene.show_diagram(picture, request, answer)
    say("handed over", [(time.perf_counter() - begun) * 1000])
    while scene.static_layer.is_drawing:
        app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents)
    scene.set_live({17})
    busy = [multiprocessing.get_context("spawn").Process(target=reckon, daemon=True) for _ in range(WORKERS)]
    for process in busy:
        process.start()
    time.sleep(1)
    found = []
    try:
        view.fit()
        found.append(say("pan, all of it in view", frames(app, count, pan(view, 3))))
        for zoom in (0.1, 0.4, 1.0):
            view.zoom_to_one()
            view.scale(zoom, zoom)
            found.append(say(f"pan at {zoom:.0%}", frames(app, count, pan(view, 24))))
        view.zoom_to_one()
        factors = cycle([view.zoom_out] * 12 + [view.zoom_in] * 12)
        found.append(say("zoom from 100% to 11% and back", frames(app, count, lambda: next(factors)() or None)))
        states = cycle(range(0, STATES, 37))
        found.append(say("light another state", frames(app, count, lambda: scene.set_live({next(states)}))))
        found.append(say("point at another state", frames(app, count, lambda: scene.set_hovered(next(states)))))
    finally:
        for process in busy:
            process.terminate()
            process.join()
    sys.exit(0 if max(found) <= LIMIT_MS else 1)


def say(what: str, times: list[float]) -> float:
    """Print a figure; returns its 95th percentile."""
    worst = sorted(times)[max(0, round(len(times) * 0.95) - 1)]
    print(f"{what:<36} {statistics.median(times):7.1f} ms   p95 {worst:7.1f} ms", flush=True)  # noqa: T201 - for people
    return worst


if __name__ == "__main__":
    main()
