"""Drawings by Graphviz, in a separate process: Graphviz cannot be interrupted, only killed.

The text is that of the DOT export with a style for paper: dark on white, a font that every system has an equivalent of.
A picture of more than a few hundred states is unreadable and takes minutes, so it is refused.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Final, Literal

from engine.automata.dfa.dfa import ByteDfa
from engine.automata.rtn.rule_automata import RuleAutomata
from engine.compile import CompiledGrammar
from engine.export.graph.dot import MOST_STATES, rules_to_dot, to_dot
from engine.export.graph.networks import automata_of
from engine.export.provenance import commented
from engine.export.schema.settings import NumberSpelling
from engine.export.tables.rule_automata import drawable_automata, without_blanks
from engine.export.target import ExportError, ExportJob, ExportOptions
from engine.export.text.conversion import rules_of
from engine.export.text.plain_grammar import is_converted, schema_refusal
from engine.source import CancelToken, GrammarError, LimitExceededError
from engine.source.processes import start_python

Picture = Literal["svg", "png"]

MOST_DRAWN: Final = 400
"""The largest number of states in a picture."""
MOST_EDGES: Final = 1_500
MOST_SECONDS: Final = 120.0

_POLL_SECONDS: Final = 0.1
_STYLE: Final = (
    '  graph [bgcolor=white, fontname="Helvetica", fontsize=13, fontcolor="#1b1f24", pencolor="#b3bac2", pad=0.3];\n'
    '  node [fontname="Helvetica", fontsize=12, color="#1b1f24", fontcolor="#1b1f24"];\n'
    '  edge [fontname="Helvetica", fontsize=11, color="#4a5058", fontcolor="#1b1f24"];\n'
)
_SMALL: Final = '  graph [size="14,9", dpi=120];\n'  # inches
_CHILD: Final = "from engine.export.graph.drawing import main; main()"


def drawn_grammar(compiled: CompiledGrammar, cancel: CancelToken | None = None) -> CompiledGrammar:
    """Return the grammar whose automata a drawing shows: for a JSON Schema, the one without white space."""
    return without_blanks(compiled, cancel) if compiled.describes_json else compiled


def drawing_refusal(compiled: CompiledGrammar) -> str:
    """Return why a grammar cannot be drawn: it is a JSON Schema that rules cannot express.

    White space makes no difference to that. Rules that another target has written already answer it; otherwise those
    of the drawing do, which are needed next.
    """
    if not compiled.describes_json or is_converted(compiled):
        return schema_refusal(compiled, ExportOptions())
    try:
        rules_of(drawn_grammar(compiled), NumberSpelling.PLAIN, merges_copies=True)
    except GrammarError as error:
        return error.diagnostics[0].message
    except LimitExceededError as error:
        return str(error)
    return ""


def drawing(job: ExportJob, most_states: int = MOST_STATES) -> tuple[str, ByteDfa | RuleAutomata, tuple[str, ...]]:
    """Return the DOT text of a job, the automata that it draws, and what they leave out.

    Raises:
        GrammarError: it is a schema that rules cannot express.
        LimitExceededError: it has more than `most_states` states.
        CancelledError: the job was cancelled.
    """
    compiled, source = job.compiled, job.compiled.source
    notes: tuple[str, ...] = ()
    if compiled.describes_json:
        found = drawable_automata(compiled, MOST_STATES, cancel=job.cancel)
        automata: ByteDfa | RuleAutomata = found.automata
        notes = found.notes
    else:
        automata, _ = automata_of(compiled, cancel=job.cancel)
    if isinstance(automata, ByteDfa):
        size, text = len(automata.states), to_dot(automata, source, exact=True)
    else:
        size, text = automata.size, rules_to_dot(automata, source, notes, exact=True)
    if size > most_states:
        raise LimitExceededError("errors.limit.drawn_states", given=size, limit=most_states)
    first, _, rest = text.partition("\n")
    return commented(job, f"{first}\n{_STYLE}{rest}", "//", notes), automata, notes


def picture(
    job: ExportJob, form: Picture, *, is_small: bool = False
) -> tuple[bytes, ByteDfa | RuleAutomata, tuple[str, ...]]:
    """Return the same as `drawing`, with a picture instead of text.

    Args:
        job: the export job.
        form: the format.
        is_small: whether to scale it down to a window.

    Raises:
        LimitExceededError: it is too large to be readable.
        ExportError: Graphviz failed, or took too long.
        GrammarError, CancelledError: as `drawing`.
    """
    text, automata, notes = drawing(job, MOST_DRAWN)
    edges = text.count(" -> ")
    if edges > MOST_EDGES:
        raise LimitExceededError("errors.limit.drawn_edges", given=edges, limit=MOST_EDGES)
    if is_small:
        text = text.replace(_STYLE, _STYLE + _SMALL)
    return draw(text, form, job.cancel), automata, notes


def draw(text: str, form: Picture, cancel: CancelToken) -> bytes:
    """Draw a DOT text with `dot`.

    Args:
        text: the DOT text.
        form: the format.
        cancel: cancels the drawing and kills the process.

    Raises:
        ExportError: Graphviz failed, or took too long.
        CancelledError: it was cancelled; the process has ended.
    """
    if getattr(sys, "frozen", False):  # a single-file application has no interpreter to start
        return _draw_here(text.encode(), form)
    began = time.monotonic()
    pipe = subprocess.PIPE
    with start_python(["-c", _CHILD, form], stdin=pipe, stdout=pipe, stderr=pipe) as child:
        data: bytes | None = text.encode()
        try:
            while True:
                try:
                    drawn, said = child.communicate(data, _POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    data = None  # the first call has passed it
                    cancel.report("progress.drawing", int(time.monotonic() - began))
                    if time.monotonic() - began > MOST_SECONDS:
                        raise ExportError("errors.export.drawing.slow", most_seconds=MOST_SECONDS) from None
        finally:
            child.kill()
    if child.returncode or not drawn:
        lines = said.decode(errors="replace").strip().splitlines()
        raise ExportError(
            "errors.export.drawing.failed", reason=lines[-1] if lines else f"exit code {child.returncode}"
        )
    return drawn


def main() -> None:
    """Run the other process: read a DOT text from stdin and write a picture to stdout."""
    sys.stdout.buffer.write(_draw_here(sys.stdin.buffer.read(), sys.argv[1]))


def _draw_here(text: bytes, form: str) -> bytes:
    import pygraphviz

    graph = pygraphviz.AGraph(string=text.decode())
    drawn: bytes = graph.draw(format=form, prog="dot")
    return drawn
