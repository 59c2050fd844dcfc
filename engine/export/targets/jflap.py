r"""JFLAP 7's file of a finite automaton (`.jff`), for teaching: over characters, one transition for each.

JFLAP's simulators read `[a-z]` in a transition as any character from the first to the last, and nothing else as
special, so `[` itself is written `[[-[]`. JFLAP stores texts in UTF-16 units and its file is XML 1.0: characters beyond
U+FFFF and control characters except tab and line ends cannot be written, and are left out with a note. What is read
back here is run as JFLAP would run it.
"""

from __future__ import annotations

from collections import deque
from typing import Final
from xml.etree import ElementTree as ET

from engine.compile import CompiledGrammar
from engine.export.checks import check_text
from engine.export.provenance import provenance_lines
from engine.export.rules.character_automaton import read_characters
from engine.export.rules.right_linear import System
from engine.export.target import Artifact, Check, ExportJob, MismatchError, OptionName, TargetGroup
from engine.export.target_bases import RulesTarget
from engine.export.text.plain_grammar import has_fewer_texts, refusal_without_stack, regular_form
from engine.grammar import Chars, CharSet, Choice, Empty, Grammar, Node, Rule, RuleReference, Sequence
from engine.grammar.print_gbnf import print_gbnf
from engine.source import LimitExceededError
from engine.source.catalogue import catalogue_text

MOST_STATES: Final = 1_000
MOST_TRANSITIONS: Final = 20_000

_WRITABLE: Final = CharSet(((0x09, 0x0A), (0x0D, 0x0D), (0x20, 0xD7FF), (0xE000, 0xFFFD)))
_RANGE: Final = 5
"""The length of a label `[a-z]`."""
_APART: Final = 120


def _left_out() -> str:
    return catalogue_text("export.note.fragment.jflap")


class JflapTarget(RulesTarget):
    """The JFLAP target; see `Target`."""

    name = "jflap"
    group = TargetGroup.PICTURE
    suffix = ".jff"

    def supported_options(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """Return the supported options; see `Target`."""
        return super().supported_options(compiled) | (frozenset() if compiled.is_regular else {"depth"})

    def refusal(self, job: ExportJob) -> str:
        """Return why a grammar does not fit; see `Target`."""
        return refusal_without_stack(job.compiled, job.options)

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        regular, notes = regular_form(job)
        system = read_characters(regular.materialise(cancel=job.cancel))
        if len(system.edges) > MOST_STATES:
            raise LimitExceededError("errors.limit.jflap_states", given=len(system.edges), limit=MOST_STATES)
        text, leaves_out = _written(system, "\n".join(provenance_lines(job, *self.supported_options(job.compiled))))
        return Artifact((("automaton.jff", text),), (*notes, _left_out()) if leaves_out else notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact; see `Target`."""
        try:
            rules = print_gbnf(read_jff(artifact.content))
        except (ET.ParseError, KeyError, ValueError, AttributeError) as error:
            raise MismatchError("errors.export.jflap.unreadable", reason=str(error)) from error
        fewer = has_fewer_texts(job) or job.options.depth is not None or _left_out() in artifact.notes
        return check_text(job, "gbnf", rules, catalogue_text("export.compared.fragment.jflap"), fewer=fewer)


def _written(system: System, comment: str) -> tuple[bytes, bool]:
    root = ET.Element("structure")
    root.append(ET.Comment(comment.replace("--", "- -") + "\n"))
    ET.SubElement(root, "type").text = "fa"
    automaton = ET.SubElement(root, "automaton")
    for state, (x, y) in enumerate(_places(system)):
        element = ET.SubElement(automaton, "state", id=str(state), name=f"q{state}")
        ET.SubElement(element, "x").text = f"{x:.1f}"
        ET.SubElement(element, "y").text = f"{y:.1f}"
        if state == 0:
            ET.SubElement(element, "initial")
        if system.accepting[state]:
            ET.SubElement(element, "final")
    count, leaves_out = 0, False
    for source, edges in enumerate(system.edges):
        for node, target in edges:
            assert isinstance(node, Chars)
            shown = node.set & _WRITABLE
            leaves_out = leaves_out or bool(node.set - _WRITABLE - CharSet(((0xD800, 0xDFFF),)))
            for read in _labels(shown):
                count += 1
                transition = ET.SubElement(automaton, "transition")
                ET.SubElement(transition, "from").text = str(source)
                ET.SubElement(transition, "to").text = str(target)
                ET.SubElement(transition, "read").text = read
    if count > MOST_TRANSITIONS:
        raise LimitExceededError("errors.limit.jflap_transitions", given=count, limit=MOST_TRANSITIONS)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode").replace("\r", "&#13;")  # an XML parser would turn it into a line feed
    return f'<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n{text}\n'.encode(), leaves_out


def _labels(characters: CharSet) -> list[str]:
    found = []
    for first, last in characters.ranges:
        if first == last and chr(first) != "[":
            found.append(chr(first))
        else:
            found.append(f"[{chr(first)}-{chr(last)}]")
    return found


def _places(system: System) -> list[tuple[float, float]]:
    """Return coordinates in columns by the distance from the start; JFLAP can lay out the graph again."""
    column, todo = {0: 0}, deque([0])
    while todo:
        state = todo.popleft()
        for _, target in system.edges[state]:
            if target not in column:
                column[target] = column[state] + 1
                todo.append(target)
    rows: dict[int, int] = {}
    places = []
    for state in range(len(system.edges)):
        at = column.get(state, 0)
        places.append((80.0 + _APART * at, 80.0 + _APART * rows.get(at, 0)))
        rows[at] = rows.get(at, 0) + 1
    return places


def read_jff(content: bytes) -> Grammar:
    """Read the automaton of a file as rules, one for each state, with labels interpreted as by JFLAP's simulator.

    Raises:
        ParseError, KeyError, ValueError, AttributeError: it is another file.
    """
    automaton = ET.fromstring(content).find("automaton")  # noqa: S314 - it was written here
    assert automaton is not None
    ways: dict[str, list[Node]] = {state.attrib["id"]: [] for state in automaton.iter("state")}
    for transition in automaton.iter("transition"):
        source, target, read = (transition.findtext(name) or "" for name in ("from", "to", "read"))
        ways[source].append(Sequence((Chars(_read(read)), RuleReference(f"q{target}"))))
    for state in automaton.iter("state"):
        if state.find("final") is not None:
            ways[state.attrib["id"]].append(Empty())
    start = next(state.attrib["id"] for state in automaton.iter("state") if state.find("initial") is not None)
    return Grammar(tuple(Rule(f"q{state}", Choice(tuple(nodes))) for state, nodes in ways.items()), f"q{start}")


def _read(label: str) -> CharSet:
    at = label.find("[")
    if at < 0:
        if len(label) != 1:
            raise ValueError(f"a transition reads {label!r}")
        return CharSet.chars(label)
    if len(label) != _RANGE:
        raise ValueError(f"a transition reads {label!r}")
    return CharSet(((ord(label[at + 1]), ord(label[at + 3])),))


TARGET = JflapTarget()
