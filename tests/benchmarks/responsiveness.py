"""How soon the window answers, how long it ever stands still, and whether it grows, as one table.

    python tests/benchmarks/responsiveness.py [--runs N] [--only smollm2|tekken] [--memory] [--start]

Every line stands beside its limit, for the vocabularies of SmolLM2 (49,152 tokens) and tekken (131,072); one that is
not on this machine is left out, and it is said why. The models cost nothing, so that what is left is Turnstile's own;
the window is painted offscreen. Latencies are medians and 95th percentiles from the event to the paint, less what the
window waited for a core; *window* is what its thread reckoned meanwhile. Standstills are the longest of each kind of
work.
`--memory` steps 10,000 times and compiles 1,000 times, which takes minutes; `--start` times the first window, too. Pan
and zoom of a large drawing are measured by `graph_frames.py`.
"""

# ruff: noqa: T201 - a script for people

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import first_window
import psutil
from desk import Desk, Paints, Stopwatch, Took, standstill
from heavy_grammars import schema_of_properties
from PySide6.QtCore import QMimeData
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from vocabulary_models import SIZES, decode_handler, tokenizer, why_not

from app import theme
from app.document import DocumentFile, GrammarPart, ModelPart
from app.jobs import GarbageCollector
from app.widgets.deferred_import import PLOTS, DeferredImport
from engine.decoding.values import SamplerSettings

SCHEMA = json.dumps(json.loads(schema_of_properties(5_000)), indent=1)[:-1].rstrip()  # its last brace is for the keys


def schema_of_parts(count: int) -> str:
    """Return a schema with so many definitions, 300 characters each."""
    parts = {
        f"part{number}": {
            "type": "object",
            "description": "A part of a large schema, as generated ones have hundreds of.",
            "properties": {"id": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}},
            "required": ["id"],
        }
        for number in range(count)
    }
    keys = {f"key{number}": {"$ref": f"#/$defs/part{number % count}"} for number in range(20)}
    whole = {"type": "object", "properties": keys, "required": ["key0"], "additionalProperties": False, "$defs": parts}
    return json.dumps(whole, indent=1)


LARGE_SCHEMA, MEGABYTE_SCHEMA = schema_of_parts(960), schema_of_parts(3_200)
LARGE_RULES = "root ::= rule-0\n" + "".join(
    f'rule-{number} ::= "field {number}" ( "x" | rule-{(number + 1) % 3_600} | [a-z0-9]{{1,9}} ) (", " rule-0)*\n'
    for number in range(3_600)
)
LARGE = "[ab]*a[ab]{10}"  # 2,048 states
LARGE_UTF8 = "(?:[é-ü]|x)*[é-ü](?:[é-ü]|x){9}"  # 1,536 states, a third of them within characters
STATES = {40: "[a-z]{38}", 300: "[a-z]{298}"}
TOKENS = (300, 1_000)
STEPS, COMPILES, WARM_UP = 10_000, 1_000, 0.2  # what the memory is measured over, and the share that comes before
_MEGABYTE = 2**20


def key_to_findings(desk: Desk, runs: int) -> list[Took]:
    """Measure the time from a key that breaks or fixes the text to the paint of its diagnostics."""
    edit = desk.window.panes.editor.edit
    edit.setFocus()
    edit.moveCursor(edit.textCursor().MoveOperation.End)
    paints = Paints(edit.viewport())
    seen: list[int] = []
    heard = desk.session.compiling.diagnosed.connect(lambda _findings, _source: seen.append(paints.count))
    took = []
    for _ in range(runs):
        for act in (lambda: QTest.keyClicks(edit, "x"), lambda: edit.textCursor().deletePreviousChar()):
            seen.clear()
            watch = Stopwatch()
            act()
            desk.until(lambda: bool(seen) and paints.count > seen[-1])
            took.append(watch.took())
            desk.settle(250)
    desk.session.compiling.diagnosed.disconnect(heard)
    return took


def key_to_drawing(desk: Desk, model: str, states: int, runs: int) -> list[Took]:
    """From a key in a pattern to the paint of its automaton."""
    desk.open(STATES[states], model)
    edit, viewport = desk.window.panes.editor.edit, desk.window.panes.automaton.view.viewport()
    edit.setFocus()
    edit.moveCursor(edit.textCursor().MoveOperation.End)
    paints = Paints(viewport)
    seen: list[int] = []
    heard = desk.session.compiling.laid_out.connect(lambda _answer: seen.append(paints.count))
    took = []
    for _ in range(runs):
        for act in (lambda: QTest.keyClicks(edit, "a"), lambda: edit.textCursor().deletePreviousChar()):
            seen.clear()
            watch = Stopwatch()
            act()
            desk.until(lambda: bool(seen) and paints.count > seen[-1])
            took.append(watch.took())
            desk.settle(150)
    desk.session.compiling.laid_out.disconnect(heard)
    drawn = desk.session.compiling.last_good
    assert drawn is not None
    assert abs(len(drawn.dfa.states) - states) <= 2, f"{len(drawn.dfa.states)} states"
    return took


def step_to_redraw(desk: Desk, model: str, runs: int) -> list[Took]:
    """From Step to the paint of the chip and of the candidates."""
    desk.open("[ -~]*", model)
    pane = desk.window.panes.generation
    paints = Paints(pane.output.chips.viewport()), Paints(pane.candidates.table.viewport())
    seen: list[tuple[int, int, int]] = []
    heard = desk.session.decoding.view_changed.connect(
        lambda view: seen.append((len(view.trace.path), paints[0].count, paints[1].count))
    )

    def is_painted(taken: int) -> bool:
        return (
            bool(seen) and seen[-1][0] > taken and all(p.count > n for p, n in zip(paints, seen[-1][1:], strict=True))
        )

    took = []
    for taken in range(runs):
        watch = Stopwatch()
        desk.window.commands["run.step"].trigger()
        desk.until(lambda: is_painted(taken))  # noqa: B023 - run at once
        took.append(watch.took())
        desk.settle(30)
    desk.session.decoding.view_changed.disconnect(heard)
    return took


def draw(desk: Desk, text: str) -> None:
    """Edit the grammar, and wait until its automaton is drawn."""
    compiling = desk.session.compiling
    revisions: list[int] = []
    heard = compiling.laid_out.connect(lambda _answer: revisions.append(compiling.last_good.request.revision))
    desk.document.set_text(text)
    desk.until(lambda: desk.document.revision in revisions)
    desk.settle(200)
    compiling.laid_out.disconnect(heard)


def run(desk: Desk) -> None:
    """Run to the end."""
    desk.session.decoding.run()
    desk.until(lambda: not desk.session.decoding.is_running)


def load(desk: Desk, model: str) -> None:
    """Load a model while the window goes on."""
    desk.session.decoding.open_model(model)
    desk.until(lambda: not desk.session.decoding.model_is_loading)
    desk.settle(200)


def import_plots(desk: Desk) -> None:
    """Import the library of the plots while the window goes on."""
    library = DeferredImport(PLOTS)
    library.begin()
    desk.until(lambda: library.is_ready)


def standstills(desk: Desk, model: str) -> Iterator[tuple[str, float]]:
    """The longest standstill of each kind of work, with its name."""
    if PLOTS.name not in sys.modules:  # a process imports it but once
        desk.open("a", model)
        yield "the plots are imported", standstill(lambda: import_plots(desk))
    for text in (LARGE, LARGE_UTF8):
        desk.open("a", model)
        took = standstill(lambda: draw(desk, text))  # noqa: B023 - run at once
        drawn = desk.session.compiling.last_good
        assert drawn is not None
        yield f"{len(drawn.dfa.states):,} states arrive", took
    desk.open("[ -~]*", model)
    yield "a model loads", standstill(lambda: load(desk, model))
    for tokens in TOKENS:
        desk.open("[a-z]*", model)
        desk.session.decoding.set_max_tokens(tokens)
        desk.settle(200)
        yield f"{tokens:,} tokens run", standstill(lambda: run(desk))
    for name in ("dark", "light"):
        yield f"the theme becomes {name}", standstill(lambda: theme.apply(desk.app, name))  # noqa: B023 - run at once


def opening(desk: Desk, model: str, text: str) -> float:
    """How long a schema takes from the file to the paint with its findings and its map, milliseconds."""
    desk.open("a", model)
    compiling, seen = desk.session.compiling, set[str]()
    heard = (
        compiling.diagnosed.connect(lambda _findings, source: seen.add(source.text)),
        compiling.schema_mapped.connect(lambda found, _revision: found is not None and seen.add("map")),
    )
    watch = Stopwatch()
    desk.document.replace(DocumentFile(grammar=GrammarPart(text=text, notation="json_schema"), model=ModelPart(model)))
    desk.until(lambda: {text, "map"} <= seen)
    desk.window.repaint()
    took = watch.took().wait
    for signal, one in zip((compiling.diagnosed, compiling.schema_mapped), heard, strict=True):
        signal.disconnect(one)
    desk.until(lambda: compiling.last_good is not None and not any(group.pending for group in desk.session.worker_pool))
    return took


def large_standstills(desk: Desk, model: str, text: str) -> Iterator[tuple[str, float]]:
    """The longest standstill of each command on a large schema, with its name."""
    yield "opened", standstill(lambda: (opening(desk, model, text), desk.settle(300)))
    edit, search = desk.window.panes.editor.edit, desk.window.panes.editor.find_replace
    edit.setFocus()
    for name in ("fold_all", "unfold_all"):
        yield name, standstill(lambda: (desk.window.commands[f"edit.{name}"].trigger(), desk.settle(300)))  # noqa: B023 - run at once
    search.open(True)
    search.bar.field.setText("integer")
    search.replacement.setText("number")
    pasted = QMimeData()
    pasted.setText(text)
    acts = {
        "replaced all": search.replace_all,
        "undone": edit.undo,
        "repeated": edit.redo,
        "pasted over all": lambda: (search.bar.close_bar(), edit.selectAll(), edit.insertFromMimeData(pasted)),
        "the paste undone": edit.undo,
    }
    for what, act in acts.items():
        yield what, standstill(lambda: (act(), desk.settle(300)))  # noqa: B023 - run at once
        desk.until(lambda: not any(group.pending for group in desk.session.worker_pool))
        desk.settle(200)


def growth(desk: Desk, model: str) -> Iterator[tuple[str, float, float]]:
    """How much window and workers hold more after many steps and many compiles, in megabytes, with its name."""
    desk.open("[ -~]*", model)
    desk.session.decoding.set_sampler(SamplerSettings(seed=3))
    desk.session.decoding.set_max_tokens(500)

    def step_all() -> None:
        run(desk)
        desk.window.commands["run.restart"].trigger()  # the same seed makes the same steps again
        desk.until(lambda: desk.session.decoding.view.trace.current is None)

    yield f"{STEPS:,} steps", *_growth(desk, step_all, STEPS // 500)
    texts = [f"[a-z]{{{n}}}(x|y{{{n}}})" for n in range(3, 23)]
    yield f"{COMPILES:,} recompiles", *_growth(desk, lambda: [draw_only(desk, text) for text in texts], COMPILES // 20)


def draw_only(desk: Desk, text: str) -> None:
    """Edit the grammar, and wait until everybody has it."""
    desk.document.set_text(text)
    desk.until(lambda: desk.session.decoding.view.grammar_revision == desk.document.revision)
    desk.until(lambda: not any(group.pending for group in desk.session.worker_pool))


def _growth(desk: Desk, work: Callable[[], object], times: int) -> tuple[float, float]:
    before = (0.0, 0.0)
    for done in range(times):
        if done == round(times * WARM_UP):
            before = _memory(desk)
        work()
    return tuple(now - then for now, then in zip(_memory(desk), before, strict=True))  # type: ignore[return-value]


def _memory(desk: Desk) -> tuple[float, float]:
    desk.settle(500)
    gc.collect()
    workers = (psutil.Process(group.pid) for group in desk.session.worker_pool if group.pid is not None)
    held = psutil.Process().memory_info().rss, sum(worker.memory_info().rss for worker in workers)
    return held[0] / _MEGABYTE, held[1] / _MEGABYTE


def measure(app: QApplication, model: str, runs: int, *, with_memory: bool) -> None:
    """Print the lines of one vocabulary."""
    print(f"\n{model}: {SIZES[model]:,} tokens", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder), app, decode_handler)
        desk.open("a", model)
        gc.freeze()  # as the window does once it stands
        typed = {
            "schema of 5 KB": (SCHEMA + "}", "json_schema"),
            "schema of 300 KB": (LARGE_SCHEMA, "json_schema"),
            "GBNF of 300 KB": (LARGE_RULES, "gbnf"),
        }
        for what, (text, notation) in typed.items():
            took: list[Took] = []
            opened = standstill(lambda: desk.open(text, model, notation))  # noqa: B023 - run at once
            typing = standstill(lambda: took.extend(key_to_findings(desk, runs)))  # noqa: B023 - run at once
            say(f"key to findings, {what}", took, 60)
            for act, longest in (("opened", opened), ("typed in", typing)):
                print(
                    f"  {f'standstill, {what} {act}':<40} {longest:22.0f} ms   limit  50 {_mark(longest, 50)}",
                    flush=True,
                )
        for size, text in (("300 KB", LARGE_SCHEMA), ("1 MB", MEGABYTE_SCHEMA)):
            for name, longest in large_standstills(desk, model, text):
                what = f"standstill, {size} {name}"
                print(f"  {what:<40} {longest:22.0f} ms   limit  50 {_mark(longest, 50)}", flush=True)
        took_ms = opening(desk, model, MEGABYTE_SCHEMA)
        print(f"  {'1 MB to findings and map':<40} {took_ms:22.0f} ms   limit 2000 {_mark(took_ms, 2_000)}", flush=True)
        for states, limit in ((40, 250), (300, 500)):
            say(f"key to automaton, {states} states", key_to_drawing(desk, model, states, runs), limit)
        say("step to redraw", step_to_redraw(desk, model, 2 * runs), 16)
        for name, longest in standstills(desk, model):
            print(f"  {'standstill, ' + name:<40} {longest:22.0f} ms   limit  50 {_mark(longest, 50)}", flush=True)
        if with_memory:
            for name, window, workers in growth(desk, model):
                print(f"  {'growth, ' + name:<40} window {window:+7.1f} MB, workers {workers:+7.1f} MB", flush=True)
        desk.close()


def say(what: str, took: list[Took], limit: int) -> None:
    """Print a latency."""
    waits, window = sorted(one.wait for one in took), [one.window for one in took]
    worst = _percentile(waits)
    print(
        f"  {what:<40} {statistics.median(waits):5.0f} ms, p95 {worst:5.0f} ms   limit {limit:3} {_mark(worst, limit)}"
        f"   window {statistics.median(window):4.0f} ms, p95 {_percentile(window):4.0f} ms",
        flush=True,
    )


def _percentile(values: list[float]) -> float:
    return sorted(values)[max(0, round(len(values) * 0.95) - 1)]


def _mark(value: float, limit: float) -> str:
    return "✓" if value <= limit else "✗"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--only", choices=tuple(SIZES))
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--start", action="store_true")
    options = parser.parse_args()
    if options.start:
        _, warm = first_window.starts(options.runs)
        waits = [start.wait for start in warm]
        worst = _percentile(waits)
        median = statistics.median(waits)
        print(f"first window, warm: {median:.0f} ms, p95 {worst:.0f} ms   limit 500 {_mark(worst, 500)}")
    app = QApplication([])
    GarbageCollector(app)  # as the window has one
    for model in (options.only,) if options.only else SIZES:
        if tokenizer(model) is None:
            print(f"\n{model}: left out, for it is not on this machine: {why_not(model)}")
        else:
            measure(app, model, options.runs, with_memory=options.memory)


if __name__ == "__main__":
    main()
