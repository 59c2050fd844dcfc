"""Automata as expressions, against a run of the automaton."""

from __future__ import annotations

from itertools import product

from error_keys import raises_key
from grammar_language import language
from hypothesis import given
from hypothesis import strategies as st

from engine.export.rules.expressions import literal, one_of
from engine.export.rules.flatten import is_recursive
from engine.export.rules.right_linear import System, components, solve
from engine.grammar import Grammar, Node, Rule, RuleReference
from engine.grammar.print_gbnf import print_gbnf
from engine.source import LimitExceededError, Limits

TEXTS = ["".join(letters) for length in range(6) for letters in product("ab", repeat=length)]


def written(system: System, *, loops_as_rules: bool, limits: Limits | None = None) -> Grammar:
    rules: dict[str, Node] = {}

    def namer(state: int, node: Node | None) -> Node:
        if node is not None:
            rules[f"s{state}"] = node
        return RuleReference(f"s{state}")

    root = solve(system, 0, namer, limits or Limits(), loops_as_rules=loops_as_rules)
    return Grammar((Rule("root", root), *(Rule(name, node) for name, node in rules.items())), "root")


def run(system: System, text: str) -> bool:
    states = {0}
    for letter in text:
        states = {
            target
            for state in states
            for label, target in system.edges[state]
            if ord(letter) in label.set  # type: ignore[union-attr]
        }
    return any(system.accepting[state] for state in states)


@st.composite
def systems(draw: st.DrawFn) -> System:
    count = draw(st.integers(1, 7))
    system = System()
    for _ in range(count):
        system.add(accepting=draw(st.booleans()))
    edges = st.tuples(st.integers(0, count - 1), st.sampled_from(["a", "b", "ab"]), st.integers(0, count - 1))
    for source, letters, target in draw(st.lists(edges, max_size=14, unique=True)):
        system.connect(source, one_of(letters), target)
    return system


@given(systems(), st.booleans())
def test_the_expression_has_the_language_of_the_automaton(system, loops_as_rules):
    grammar = written(system, loops_as_rules=loops_as_rules)
    assert language(grammar, TEXTS) == {text for text in TEXTS if run(system, text)}


@given(systems())
def test_without_loops_as_rules_no_rule_refers_to_itself(system):
    assert not is_recursive(written(system, loops_as_rules=False))


def chain(*labels: str, ends: tuple[int, ...]) -> System:
    system = System()
    for state in range(len(labels) + 1):
        system.add(accepting=state in ends)
    for state, label in enumerate(labels):
        system.connect(state, literal(label), state + 1)
    return system


def shown(system: System) -> str:
    return print_gbnf(written(system, loops_as_rules=True))


def test_equal_edges_become_a_count():
    assert shown(chain(*["ab"] * 5, ends=(5,))) == 'root ::= "ab"{5}\n'
    assert shown(chain(*["ab"] * 5, ends=(2, 3, 4, 5))) == 'root ::= "ab"{2} "ab"{0,3}\n'


def test_an_edge_that_may_be_left_out_is_optional():
    system = chain("x", "y", "z", ends=(3,))
    system.connect(0, literal("y"), 2)
    system.connect(1, literal("z"), 3)
    system.connect(0, literal("z"), 3)
    assert shown(system) == 'root ::= "x"? "y"? "z"\n'


def test_a_long_chain_takes_no_deep_recursion():
    system = chain(*["a", "b"] * 1_000, ends=(2_000,))
    grammar = written(system, loops_as_rules=True)
    assert 5 < len(grammar.rules) < 50


def test_what_a_loop_takes_is_bounded():
    system = System()
    for _ in range(60):
        system.add(accepting=True)
    for source in range(60):
        for target in range(60):
            system.connect(source, one_of(chr(0x100 + 60 * source + target)), target)
    with raises_key(LimitExceededError, "errors.limit.expression_parts"):
        written(system, loops_as_rules=False)


def test_components_come_with_what_they_lead_to_first():
    label = one_of("a")
    edges = [[(label, 1)], [(label, 2), (label, 3)], [(label, 1)], []]
    assert [sorted(component) for component in components(edges, 0)] == [[3], [1, 2], [0]]
