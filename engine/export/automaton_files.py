r"""Automata from files of other programs, as grammars in GBNF: JFLAP's `.jff`, and Graphviz' DOT language.

A finite automaton becomes a rule for each state, which reads a label and continues with the rule of the next state. So
the texts are those of the automaton, and nothing has to be simplified. Turnstile's own DOT files have the exact bytes,
calls and tokens of each edge in attributes, and are read back from these.

A label of JFLAP is a text; `[a-z]` alone is any character from the first to the last, as in JFLAP's simulators. In DOT,
which gives labels no meaning, commas separate alternatives, `[a-z0-9]` and `a-z` are classes, and the rest is text. No
label, ε and λ are empty transitions.

XML is parsed by expat, and a document type, which is what could declare entities, is refused. DOT is read by a parser
of its own: libraries either are slow (1 MB takes a minute) or need Graphviz, and all of them pass on what does not
belong to an automaton.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final
from xml.parsers import expat

from engine.automata.dfa.dfa import ByteDfa
from engine.automata.rtn.rule_automata import RuleAutomata
from engine.export.graph.networks import read_automata
from engine.export.rules.character_automaton import read_characters
from engine.export.target import MismatchError
from engine.grammar import Chars, CharSet, Choice, Empty, Grammar, Node, Rule, RuleReference, Sequence
from engine.grammar.print_gbnf import NoGbnfError, print_gbnf
from engine.source import EngineError, checkpoint

NOTATION: Final = "gbnf"
"""The notation of the grammar that a file becomes."""
MOST_STATES: Final = 20_000

_EMPTY: Final = frozenset({"", "ε", "λ", "epsilon", "lambda", "eps", "&epsilon;", "&lambda;"})
_CLASS: Final = re.compile(r"\[(?P<inner>(?:[^\]\\]|\\.)+)\]", re.DOTALL)
_BARE_RANGE: Final = re.compile(r"([a-z])-([a-z])|([A-Z])-([A-Z])|([0-9])-([0-9])")
_PART: Final = re.compile(r"\\?(.)-\\?(.)|\\?(.)", re.DOTALL)
_FINAL_SHAPES: Final = frozenset({"doublecircle", "doubleoctagon"})
_INVISIBLE_SHAPES: Final = frozenset({"point", "none", "plaintext", "plain"})
_RANGE_LENGTH: Final = 5  # of `[a-z]`


class AutomatonFileError(EngineError):
    """A file of an automaton cannot be read; the text says what is wrong, where, and what to do."""


@dataclass(slots=True)
class _Automaton:
    """States by their names in the file, and transitions: source, target, and what is read."""

    accepting: dict[str, bool] = field(default_factory=dict)
    starts: list[str] = field(default_factory=list)
    transitions: list[tuple[str, str, Node]] = field(default_factory=list)

    def grammar(self, name: str) -> Grammar:
        """Return its rules, one for each state.

        Args:
            name: of the file, for messages.
        """
        if len(self.starts) > 1:
            states = ", ".join(self.starts[:4])
            raise AutomatonFileError("errors.automaton_file.starts", name=name, states=states)
        if not self.starts:
            raise AutomatonFileError("errors.automaton_file.no_start", name=name)
        if not any(self.accepting.values()):
            raise AutomatonFileError("errors.automaton_file.no_final", name=name)
        if len(self.accepting) > MOST_STATES:
            given = len(self.accepting)
            raise AutomatonFileError("errors.automaton_file.states", name=name, given=given, limit=MOST_STATES)
        out: defaultdict[str, list[Node]] = defaultdict(list)
        for source, target, read in self.transitions:
            reference = RuleReference(f"q-{target}")
            out[source].append(reference if isinstance(read, Empty) else Sequence((read, reference)))
        for state, accepts in self.accepting.items():
            if accepts:
                out[state].append(Empty())
        live = _live(self.accepting, [(source, target) for source, target, _ in self.transitions])
        rules = (Rule(f"q-{state}", Choice(tuple(out[state]))) for state in self.accepting if state in live)
        start = self.starts[0]
        if start not in live:
            raise AutomatonFileError("errors.automaton_file.no_text", name=name)
        kept = [Rule(rule.name, _without(rule.node, live)) for rule in rules]
        return Grammar(tuple(kept), f"q-{start}")


def _live(accepting: Mapping[str, bool], edges: list[tuple[str, str]]) -> frozenset[str]:
    """Return the states from which an accepting one can be reached: a rule without a text is an error in GBNF."""
    before: defaultdict[str, list[str]] = defaultdict(list)
    for source, target in edges:
        before[target].append(source)
    found = {state for state, accepts in accepting.items() if accepts}
    queue = list(found)
    while queue:
        for source in before[queue.pop()]:
            if source not in found:
                found.add(source)
                queue.append(source)
    return frozenset(found)


def _without(node: Node, live: frozenset[str]) -> Node:
    """Return the alternatives that lead to live states."""
    assert isinstance(node, Choice)

    def leads_on(one: Node) -> bool:
        last = one.items[-1] if isinstance(one, Sequence) else one
        return not isinstance(last, RuleReference) or last.name.removeprefix("q-") in live

    return Choice(tuple(one for one in node.alternatives if leads_on(one)))


def read_automaton_file(data: bytes, name: str) -> str:
    """Return the grammar of an automaton in a file, in GBNF.

    Args:
        data: the bytes of the file.
        name: its name; the suffix, one of `AUTOMATON_SUFFIXES`, determines the format.

    Raises:
        AutomatonFileError: it is no such file, or no automaton that has a grammar.
        CancelledError: the work was cancelled.
    """
    grammar = _read_jff(data, name) if name.lower().endswith(".jff") else _read_dot(data, name)
    try:
        return print_gbnf(grammar)
    except NoGbnfError as error:
        raise AutomatonFileError("errors.automaton_file.no_gbnf", name=name, reason=str(error)) from None


# --- JFLAP ------------------------------------------------------------------------------------------------------------


class _JffReader:
    """Collects the elements of a JFLAP file."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._add_text
        self._parser.StartDoctypeDeclHandler = lambda *_: self._refuse("doctype")
        self._parser.EntityDeclHandler = lambda *_: self._refuse("doctype")
        self._parser.buffer_text = True
        self._text = ""
        self._state = ""
        self._fields: dict[str, str] = {}
        self._kind = ""
        self._has_root = False
        self.automaton = _Automaton()
        self._ends: list[tuple[str, str, int]] = []

    def read(self, data: bytes) -> _Automaton:
        """Read the file."""
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise AutomatonFileError(
                "errors.automaton_file.xml", name=self._name, line=error.lineno, reason=reason
            ) from None
        if self._kind != "fa":
            raise AutomatonFileError("errors.automaton_file.kind", name=self._name, kind=self._kind or "?")
        for source, target, line in self._ends:
            for end in (source, target):
                if end not in self.automaton.accepting:
                    raise AutomatonFileError("errors.automaton_file.no_state", name=self._name, state=end, line=line)
        return self.automaton

    def _refuse(self, key: str, **fields: object) -> None:
        raise AutomatonFileError(
            f"errors.automaton_file.{key}", name=self._name, line=self._parser.CurrentLineNumber, **fields
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        checkpoint()
        self._text = ""
        if not self._has_root and tag != "structure":
            raise AutomatonFileError("errors.automaton_file.no_jff", name=self._name)
        self._has_root = True
        if tag in ("state", "block"):
            self._state = attributes.get("id", "")
            if not self._state or self._state in self.automaton.accepting:
                self._refuse("state_id", state=self._state)
            self.automaton.accepting[self._state] = False
        elif tag == "transition":
            self._fields = {}
        elif tag == "initial" and self._state:
            self.automaton.starts.append(self._state)
        elif tag == "final" and self._state:
            self.automaton.accepting[self._state] = True

    def _add_text(self, text: str) -> None:
        self._text += text

    def _end(self, tag: str) -> None:
        if tag == "type":
            self._kind = self._text.strip()
        elif tag in ("state", "block"):
            self._state = ""
        elif tag in ("from", "to"):
            self._fields[tag] = self._text.strip()
        elif tag == "read":
            self._fields[tag] = self._text
        elif tag == "transition":
            source, target = self._fields.get("from", ""), self._fields.get("to", "")
            self._ends.append((source, target, self._parser.CurrentLineNumber))
            self.automaton.transitions.append((source, target, self._label(self._fields.get("read", ""))))
        self._text = ""

    def _label(self, label: str) -> Node:
        """Return what a label reads."""
        if label in _EMPTY:
            return Empty()
        if "[" not in label:
            return _text_node(label)
        if len(label) != _RANGE_LENGTH or label[0] != "[" or label[2] != "-" or label[4] != "]" or label[1] > label[3]:
            self._refuse("label", label=label)
        return Chars(CharSet(((ord(label[1]), ord(label[3])),)))


def _read_jff(data: bytes, name: str) -> Grammar:
    return _JffReader(name).read(data).grammar(name)


def _text_node(text: str) -> Node:
    characters = tuple(Chars(CharSet.chars(character)) for character in text)
    return characters[0] if len(characters) == 1 else Sequence(characters)


# --- DOT --------------------------------------------------------------------------------------------------------------

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/|(?<![^\n])\#[^\n]*)
    |(?P<quoted>"(?:[^"\\]|\\.)*")
    |(?P<word>[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*|-?(?:\.\d+|\d+(?:\.\d*)?))
    |(?P<mark>->|--|[{}\[\]=;,:+])""",
    re.DOTALL | re.VERBOSE,
)


@dataclass(slots=True)
class _Scope:
    """The defaults of a graph or subgraph."""

    node: dict[str, str] = field(default_factory=dict)
    edge: dict[str, str] = field(default_factory=dict)
    cluster: int = -1


class _DotReader:
    """Parses the DOT language (graphviz.org/doc/info/lang.html), as far as it describes an automaton."""

    def __init__(self, text: str, name: str) -> None:
        self._source, self._name = text, name
        self._tokens = list(self._lex())
        self._at = 0
        self.nodes: dict[str, dict[str, str]] = {}
        self.edges: list[tuple[str, str, dict[str, str], int]] = []
        self.cluster_of: dict[str, int] = {}
        self.clusters: list[str] = []  # the labels

    def _lex(self) -> Iterator[tuple[str, bool, int]]:
        """Yield the tokens: the text, whether it is an identifier, and the offset."""
        at = 0
        while at < len(self._source):
            checkpoint()
            found = _TOKEN.match(self._source, at)
            if found is None:
                self._refuse("html" if self._source[at] == "<" else "dot", at, text=self._source[at : at + 12])
            assert found is not None
            if found.lastgroup == "quoted":
                text = found[0][1:-1].replace("\\\n", "").replace('\\"', '"')
                yield text, True, at
            elif found.lastgroup != "space":
                yield found[0], found.lastgroup == "word", at
            at = found.end()

    def _refuse(self, key: str, at: int, **fields: object) -> None:
        line = self._source.count("\n", 0, at) + 1
        raise AutomatonFileError(f"errors.automaton_file.{key}", name=self._name, line=line, **fields)

    def _peek(self, ahead: int = 0) -> str:
        """Return the next mark or keyword; empty for other tokens and at the end."""
        at = self._at + ahead
        if at >= len(self._tokens):
            return ""
        text, is_word, offset = self._tokens[at]
        return text.lower() if is_word and self._source[offset] != '"' else "" if is_word else text

    def _next(self, expected: str = "") -> str:
        if self._at >= len(self._tokens):
            self._refuse("dot_end", len(self._source))
        text, is_word, offset = self._tokens[self._at]
        if (expected and (is_word or text != expected)) or (not expected and not is_word):
            self._refuse("dot", offset, text=text)
        self._at += 1
        while not expected and self._peek() == "+":
            self._at += 1
            text += self._next()
        return text

    def read(self) -> None:
        """Read the file."""
        if self._peek() == "strict":
            self._at += 1
        if self._peek() != "digraph":
            self._refuse("no_digraph", 0)
        self._at += 1
        if self._peek() != "{":
            self._next()
        self._statements(_Scope())

    def _statements(self, scope: _Scope) -> None:
        self._next("{")
        while self._peek() != "}":
            self._statement(scope)
            if self._peek() in (";", ","):
                self._at += 1
        self._next("}")

    def _statement(self, scope: _Scope) -> None:
        keyword = self._peek()
        if keyword in ("{", "subgraph"):
            self._subgraph(scope)
        elif keyword in ("node", "edge", "graph") and self._peek(1) == "[":
            self._at += 1
            found = self._attributes()
            if keyword == "graph":
                self._set_label(scope, found)
            else:
                (scope.node if keyword == "node" else scope.edge).update(found)
        elif self._peek(1) == "=":
            name = self._next()
            self._next("=")
            self._set_label(scope, {name: self._next()})
        else:
            self._nodes_and_edges(scope)

    def _subgraph(self, scope: _Scope) -> None:
        inner = _Scope(dict(scope.node), dict(scope.edge), scope.cluster)
        if self._peek() == "subgraph":
            self._at += 1
            name = "" if self._peek() == "{" else self._next()
            if name.startswith("cluster"):
                inner.cluster = len(self.clusters)
                self.clusters.append("")
        self._statements(inner)
        if self._peek() in ("->", "--"):
            self._refuse("dot_group", self._tokens[self._at][2])

    def _set_label(self, scope: _Scope, found: Mapping[str, str]) -> None:
        if "label" in found and scope.cluster >= 0:
            self.clusters[scope.cluster] = _unescaped(found["label"])

    def _nodes_and_edges(self, scope: _Scope) -> None:
        offset = self._tokens[self._at][2] if self._at < len(self._tokens) else len(self._source)
        path = [self._node_id()]
        while self._peek() == "->":
            self._at += 1
            if self._peek() in ("{", "subgraph"):
                self._refuse("dot_group", self._tokens[self._at][2])
            path.append(self._node_id())
        attributes = self._attributes()
        for name in path:
            if name not in self.nodes:
                self.nodes[name] = dict(scope.node)
                self.cluster_of[name] = scope.cluster
        if len(path) == 1:
            self.nodes[path[0]].update(attributes)
        for source, target in pairwise(path):
            self.edges.append((source, target, {**scope.edge, **attributes}, offset))

    def _node_id(self) -> str:
        name = self._next()
        while self._peek() == ":":  # a port
            self._at += 1
            self._next()
        return name

    def _attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self._peek() == "[":
            self._at += 1
            while self._peek() != "]":
                name = self._next()
                self._next("=")
                found[name] = self._next()
                if self._peek() in (";", ","):
                    self._at += 1
            self._next("]")
        return found

    # --- meaning ---

    def grammar(self) -> Grammar:
        """Return the grammar of the automaton."""
        exact = [(a, b, said) for a, b, said, _ in self.edges if said.keys() & {"bytes", "rule", "tokens"}]
        if exact:
            return self._exact_grammar(exact)
        marks = {
            name
            for name, said in self.nodes.items()
            if said.get("shape") in _INVISIBLE_SHAPES or "invis" in said.get("style", "")
        }
        found = _Automaton()
        for name, said in self.nodes.items():
            if name not in marks:
                is_double = said.get("peripheries") == "2" or said.get("shape") in _FINAL_SHAPES
                found.accepting[name] = is_double
        for source, target, said, offset in self.edges:
            if source in marks:
                if target not in found.starts:
                    found.starts.append(target)
            elif target in marks:
                self._refuse("dot_mark", offset, state=target)
            else:
                label = _unescaped(said.get("label", ""))
                found.transitions.append((source, target, self._label(label, offset)))
        return found.grammar(self._name)

    def _label(self, label: str, offset: int) -> Node:
        """Return what a label reads."""
        if label in _EMPTY or label.strip() in _EMPTY - {""}:
            return Empty()
        parts = [label] if _CLASS.fullmatch(label) else [part.strip() for part in re.split(r",|\n", label)]
        if not all(parts):  # a comma or a space itself
            parts = [label]
        found = [self._part(part, offset) for part in parts]
        return found[0] if len(found) == 1 else Choice(tuple(found))

    def _part(self, part: str, offset: int) -> Node:
        if part in _EMPTY - {""}:
            return Empty()
        bare = _BARE_RANGE.fullmatch(part)
        inner = _CLASS.fullmatch(part)
        if bare is None and inner is None:
            return _text_node(part)
        pairs = [
            (ord(one[1] or one[3]), ord(one[2] or one[3]))
            for one in _PART.finditer(part if inner is None else inner["inner"])
        ]
        if any(first > last for first, last in pairs) or (inner is not None and inner["inner"].startswith("^")):
            self._refuse("label", offset, label=part)
        return Chars(CharSet.of(pairs))

    def _exact_grammar(self, edges: list[tuple[str, str, dict[str, str]]]) -> Grammar:
        """Return the grammar of a file that Turnstile wrote."""
        kinds = {"bytes": "bytes", "rule": "call", "tokens": "token"}
        starts = {b for a, b, said, _ in self.edges if not said.keys() & kinds.keys()}
        nodes: dict[str, dict[str, Any]] = {
            name: {
                "state": said.get("label", ""),
                "accepting": said.get("shape") == "doublecircle",
                "rule": self.clusters[self.cluster_of[name]] if self.cluster_of[name] >= 0 else None,
                "start": name in starts,
            }
            for name, said in self.nodes.items()
            if said.get("shape") != "point"
        }
        try:
            found = [
                {
                    **{key: _unescaped(value) for key, value in said.items()},
                    "source": nodes[source],
                    "target": nodes[target],
                    "kind": next(kind for key, kind in kinds.items() if key in said),
                }
                for source, target, said in edges
            ]
            automata = read_automata(list(nodes.values()), found, self.clusters or None)
        except (MismatchError, KeyError) as error:
            raise AutomatonFileError("errors.automaton_file.exact", name=self._name, reason=str(error)) from None
        return _grammar_of(automata, self._name)


def _unescaped(text: str) -> str:
    r"""Return a label without its escapes: `\n`, `\l` and `\r` end a line, `\\` is a backslash."""
    lines = re.sub(r"\\(.)", lambda found: "\n" if found[1] in "nlr" else found[1], text, flags=re.DOTALL)
    return lines.removesuffix("\n")


def _read_dot(data: bytes, name: str) -> Grammar:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AutomatonFileError("errors.automaton_file.no_utf8", name=name, byte=error.start) from None
    reader = _DotReader(text, name)
    reader.read()
    return reader.grammar()


def _grammar_of(automata: ByteDfa | RuleAutomata, name: str) -> Grammar:
    """Return the rules of automata over bytes: one for each state."""
    if isinstance(automata, ByteDfa):
        if automata.start is None:
            raise AutomatonFileError("errors.automaton_file.no_start", name=name)
        system = read_characters(automata)
        found = _Automaton(dict(zip(map(str, range(len(system.accepting))), system.accepting, strict=True)), ["0"])
        found.transitions = [
            (str(source), str(target), read) for source, edges in enumerate(system.edges) for read, target in edges
        ]
        return found.grammar(name)
    rules: list[Rule] = []
    for number, rule in enumerate(automata.rules):
        out: defaultdict[int, list[Node]] = defaultdict(list)

        def to(state: int, number: int = number) -> RuleReference:
            return RuleReference(f"r{number}-{state}")

        for edge in rule.dfa.edges:
            if any(last > 0x7F for _, last in edge.ranges):
                raise AutomatonFileError("errors.automaton_file.rule_bytes", name=name, rule=rule.name)
            out[edge.source].append(Sequence((Chars(CharSet(edge.ranges)), to(edge.target))))
        for call in rule.calls:
            out[call.source].append(Sequence((RuleReference(call.rule), to(call.target))))
        for taken in rule.tokens:
            out[taken.source].append(Sequence((taken.tokens, to(taken.target))))
        for state in rule.dfa.states:
            if state.accepting:
                out[state.id].append(Empty())
        rules.append(Rule(rule.name, to(0)))
        rules += [Rule(to(state.id).name, Choice(tuple(out[state.id]))) for state in rule.dfa.states]
    return Grammar(tuple(rules), automata.rules[0].name)
