"""Automata as networkx graphs, and graphs read back as automata.

Nodes are states, `rule:number` if a grammar has an automaton for each rule, else only the number. Edges are bytes,
calls of rules, or tokens matched by id; attributes are only text, numbers and booleans, which every graph format
supports:

    graph     kind ("dfa" or "rules"), start rule first in `rules`, a JSON list
    nodes     rule, state, start, accepting
    edges     kind ("bytes", "call", "token"), label for people, and
              bytes (`61-7a 5f`, hexadecimal), rule (the called one), or tokens (JSON)
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from engine.automata.byte_classes import ByteRanges
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.automata.labels import call_label, label, token_label
from engine.automata.rtn.rule_automata import CallEdge, RuleAutomata, RuleAutomaton, TokenEdge
from engine.compile import CompiledGrammar
from engine.compile.compiled import DRAWABLE_STATES
from engine.export.schema.settings import NumberSpelling
from engine.export.tables.rule_automata import automata_of_rules, schema_automata
from engine.export.target import MismatchError
from engine.grammar import TokenSet
from engine.source import CancelToken, InvariantError, Span

_DFA: Final = "dfa"
_RULES: Final = "rules"
_NOWHERE: Final = Span(0, 0)


def to_networkx(
    compiled: CompiledGrammar, spelling: NumberSpelling = NumberSpelling.PLAIN, *, cancel: CancelToken | None = None
) -> Any:
    """Return a grammar's automata as a `networkx.MultiDiGraph`.

    Args:
        compiled: the grammar; a JSON Schema and recursive rules become an automaton for each rule.
        spelling: for a schema, the spelling of strings and numbers.
        cancel: cancels the work.

    Raises:
        GrammarError: it is a schema that rules cannot express.
        LimitExceededError: it is too large.
        CancelledError: it was cancelled.
    """
    return graph_of_automata(automata_of(compiled, spelling, cancel)[0])


def automata_of(
    compiled: CompiledGrammar, spelling: NumberSpelling = NumberSpelling.PLAIN, cancel: CancelToken | None = None
) -> tuple[ByteDfa | RuleAutomata, tuple[str, ...]]:
    """Return the automaton of a grammar, or those of its rules, and what they leave out.

    Args:
        compiled: the grammar.
        spelling: for a schema, the spelling of strings and numbers.
        cancel: cancels the work.

    Raises:
        GrammarError: it is a schema that rules cannot express.
        LimitExceededError: they are too large.
        CancelledError: it was cancelled.
    """
    if compiled.describes_json:
        found = schema_automata(compiled, DRAWABLE_STATES, spelling, cancel=cancel)
        return found.automata, found.notes
    if compiled.has_rules and not compiled.is_regular:
        return compiled.rule_automata(cancel=cancel), ()
    if compiled.automaton.token_elements:
        # If non-recursive rules were inlined, they would have no edges for tokens.
        assert compiled.grammar is not None
        return automata_of_rules(compiled.grammar, DRAWABLE_STATES, compiled.options.limits, cancel), ()
    return compiled.materialise(cancel=cancel), ()


def graph_of_automata(automata: ByteDfa | RuleAutomata) -> Any:
    """Return automata as a `networkx.MultiDiGraph`."""
    import networkx as nx

    graph = nx.MultiDiGraph()
    if isinstance(automata, ByteDfa):
        graph.graph["kind"] = _DFA
        _add(graph, "", automata, automata.start)
        return graph
    graph.graph["kind"] = _RULES
    graph.graph["rules"] = json.dumps([rule.name for rule in automata.rules])
    for rule in automata.rules:
        _add(graph, rule.name, rule.dfa, 0)
        for call in rule.calls:
            ends = _node(rule.name, call.source), _node(rule.name, call.target)
            graph.add_edge(*ends, kind="call", label=call_label(call.rule), rule=call.rule)
        for taken in rule.tokens:
            ends = _node(rule.name, taken.source), _node(rule.name, taken.target)
            graph.add_edge(*ends, kind="token", label=token_label(taken.tokens), tokens=token_text(taken.tokens))
    return graph


def _add(graph: Any, rule: str, dfa: ByteDfa, start: int | None) -> None:
    for state in dfa.states:
        attributes = {"state": state.id, "start": state.id == start, "accepting": state.accepting}
        graph.add_node(_node(rule, state.id), **({"rule": rule} if rule else {}), **attributes)
    for edge in dfa.edges:
        ends = _node(rule, edge.source), _node(rule, edge.target)
        graph.add_edge(*ends, kind="bytes", label=label(edge.ranges), bytes=bytes_text(edge.ranges))


def _node(rule: str, state: int) -> str:
    return f"{rule}:{state}" if rule else str(state)


# ---------------------------------------------------------------------- read back


def read_graph(graph: Any) -> ByteDfa | RuleAutomata:
    """Read the automata of a graph from `graph_of_automata`, whatever format it was stored in.

    Raises:
        MismatchError: it is another graph.
    """
    edges = [
        {**attributes, "source": graph.nodes[source], "target": graph.nodes[target]}
        for source, target, attributes in graph.edges(data=True)
    ]
    try:
        rules = None if graph.graph["kind"] == _DFA else json.loads(graph.graph["rules"])
    except (KeyError, ValueError) as error:
        raise MismatchError("errors.export.networks.unreadable", reason=str(error)) from error
    return read_automata([dict(attributes) for _, attributes in graph.nodes(data=True)], edges, rules)


def read_automata(
    nodes: list[dict[str, Any]], edges: list[dict[str, Any]], rules: list[str] | None
) -> ByteDfa | RuleAutomata:
    """Build automata from the attributes of nodes, and of edges with the attributes of their two ends.

    Args:
        nodes: with `state`, `accepting`, `start`, and `rule` if there are rules.
        edges: with `source`, `target`, `kind` and the attributes of the kind.
        rules: the rules' names, the start rule first; None for one automaton.

    Raises:
        MismatchError: they are no automata.
    """
    try:
        if strange := {edge["kind"] for edge in edges} - {"bytes", "call", "token"}:
            raise MismatchError("errors.export.networks.other_edges", names=", ".join(sorted(strange)))
        if rules is not None:
            return RuleAutomata(tuple(_rule(name, nodes, edges) for name in rules))
        start = [int(node["state"]) for node in nodes if _is_true(node["start"])]
        return _dfa(start[0] if start else None, nodes, edges)
    except (KeyError, ValueError, InvariantError) as error:
        raise MismatchError("errors.export.networks.unreadable", reason=str(error)) from error


def _rule(name: str, nodes: list[dict[str, Any]], edges: list[dict[str, Any]]) -> RuleAutomaton:
    own = [edge for edge in edges if edge["source"].get("rule") == name]
    return RuleAutomaton(
        name,
        _NOWHERE,
        nullable=False,
        dfa=_dfa(0, [node for node in nodes if node.get("rule") == name], own),
        calls=tuple(CallEdge(*_ends(edge), edge["rule"]) for edge in own if edge["kind"] == "call"),
        tokens=tuple(
            TokenEdge(*_ends(edge), read_token_text(edge["tokens"])) for edge in own if edge["kind"] == "token"
        ),
    )


def _dfa(start: int | None, nodes: Iterable[dict[str, Any]], edges: Iterable[dict[str, Any]]) -> ByteDfa:
    states = sorted((int(node["state"]), _is_true(node["accepting"])) for node in nodes)
    return ByteDfa(
        start,
        tuple(DfaState(number, accepting) for number, accepting in states),
        tuple(DfaEdge(*_ends(edge), read_bytes_text(edge["bytes"])) for edge in edges if edge["kind"] == "bytes"),
    )


def _ends(edge: dict[str, Any]) -> tuple[int, int]:
    return int(edge["source"]["state"]), int(edge["target"]["state"])


def _is_true(value: object) -> bool:
    return value is True or str(value).lower() == "true"


# ---------------------------------------------------------------------- attributes of edges


def bytes_text(ranges: ByteRanges) -> str:
    """Return byte ranges in hexadecimal digits: `61-7a 5f`."""
    return " ".join(f"{first:02x}" if first == last else f"{first:02x}-{last:02x}" for first, last in ranges)


def read_bytes_text(text: str) -> ByteRanges:
    """Parse the result of `bytes_text`.

    Raises:
        MismatchError: it is something else.
    """
    try:
        pairs = [part.partition("-") for part in text.split()]
        return tuple((int(first, 16), int(last or first, 16)) for first, _, last in pairs)
    except ValueError as error:
        raise MismatchError("errors.export.networks.no_bytes", text=repr(text)) from error


def token_text(tokens: TokenSet) -> str:
    """Return a set of tokens as JSON."""
    return json.dumps({"names": tokens.names, "ids": tokens.ids, "negated": tokens.negated})


def read_token_text(text: str) -> TokenSet:
    """Parse the result of `token_text`.

    Raises:
        MismatchError: it is something else.
    """
    try:
        found = json.loads(text)
        return TokenSet(tuple(found["names"]), tuple(found["ids"]), bool(found["negated"]))
    except (ValueError, KeyError, TypeError) as error:
        raise MismatchError("errors.export.networks.no_tokens", text=repr(text)) from error
