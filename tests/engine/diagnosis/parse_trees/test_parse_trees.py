"""Parse trees against an enumeration of derivations, and what they show of texts of each notation."""

import json
import random
from itertools import product

import pytest

from engine.compile import compile_grammar
from engine.diagnosis.parse_trees import chart
from engine.diagnosis.parse_trees.parser import TextParser
from engine.diagnosis.parse_trees.values import (
    NodeKind,
    ParseOutcome,
    children_of,
    own_ranges,
    parents_of,
)
from engine.grammar import Chars, Choice, Empty, Never, Repeat, RuleReference
from engine.grammar import Sequence as NodeSequence
from engine.source import CancelledError, CancelToken, GrammarError


class Enumeration:
    """The numbers of derivations of the parts of a text, cut at two: the least solution of their equations."""

    def __init__(self, grammar, text):
        self.rules = {rule.name: rule.node for rule in grammar.rules}
        self.text = text
        self.known = {}
        while True:
            before = dict(self.known)
            for name, start, end in product(self.rules, range(len(text) + 1), range(len(text) + 1)):
                if start <= end:
                    self.known[name, start, end] = self.count(self.rules[name], start, end)
            if self.known == before:
                break

    def count(self, node, start, end):
        match node:
            case Never():
                return 0
            case Empty():
                return int(start == end)
            case Chars():
                return int(end == start + 1 and ord(self.text[start]) in node.set)
            case RuleReference():
                return self.known.get((node.name, start, end), 0)
            case Choice():
                return min(2, sum(self.count(one, start, end) for one in node.alternatives))
            case NodeSequence():
                return self.sequence(node.items, start, end)
            case Repeat():
                return self.passes(node, 0, start, end)
        raise TypeError(node)

    def sequence(self, items, start, end):
        if not items:
            return int(start == end)
        return min(
            2,
            sum(
                first * self.sequence(items[1:], middle, end)
                for middle in range(start, end + 1)
                if (first := self.count(items[0], start, middle))
            ),
        )

    def passes(self, node, done, start, end):
        total = int(done >= node.minimum and start == end)
        if node.maximum is not None and done == node.maximum:
            return total
        for middle in range(start + (done >= node.minimum), end + 1):
            if first := self.count(node.node, start, middle):
                total += first * self.passes(node, done + 1, middle, end)
        return min(2, total)


def random_expression(rng, depth, names):
    kind = rng.randrange(2 if depth == 2 else 0, 8 if depth else 3)
    match kind:
        case 0 | 1:
            return rng.choice(['"x"', '"y"', '"xy"', "[xy]", '""'])
        case 2:
            return rng.choice(names)
        case 3 | 4:
            return " ".join(random_expression(rng, depth - 1, names) for _ in range(rng.randint(2, 3)))
        case 5 | 6:
            return f"({' | '.join(random_expression(rng, depth - 1, names) for _ in range(rng.randint(2, 3)))})"
    return f"({random_expression(rng, depth - 1, names)}){rng.choice(['*', '+', '?', '{2}', '{1,2}', '{2,}'])}"


def random_grammars(seed, count):
    rng, found = random.Random(seed), []
    while len(found) < count:
        names = ["root", "a", "b"][: rng.randint(1, 3)]
        text = "".join(f"{name} ::= {random_expression(rng, 2, names)}\n" for name in names)
        try:
            found.append(compile_grammar("gbnf", text))
        except GrammarError:
            continue
    return found


def check_tree(tree, text, is_whole):
    """Check that the nodes of a tree nest and their own bytes tile the text."""
    assert b"".join(text[start:end] for _, start, end in own_ranges(tree, len(text))) == text
    for index, parent in enumerate(parents_of(tree)):
        node, above = tree[index], tree[parent] if parent >= 0 else None
        assert index in (children_of(tree, parent) if above is not None else [0])
        end = len(text) if node.end is None else node.end
        assert node.start <= end <= len(text)
        assert not (is_whole and node.end is None)
        if above is not None:
            assert above.start <= node.start
            assert end <= (len(text) if above.end is None else above.end)


@pytest.mark.parametrize("seed", range(14))
def test_readings_are_those_of_an_enumeration(seed):
    (grammar,) = random_grammars(seed, 1)
    parser = TextParser(grammar)
    for length in range(5):
        for letters in product("xy", repeat=length):
            text = "".join(letters)
            parse = parser.parse(text.encode())
            count = Enumeration(grammar.grammar, text).known["root", 0, length]
            assert (parse.outcome is ParseOutcome.COMPLETE) == bool(count), text
            if count:
                assert len(parse.trees) == count, text
                assert len(set(parse.trees)) == count
            legal = text.encode()[: parse.legal]
            assert parse.trees or grammar.is_empty
            for tree in parse.trees:
                check_tree(tree, legal, bool(count))


def parse(notation, source, text):
    return TextParser(compile_grammar(notation, source)).parse(text)


def outline(tree, text):
    """Return the kind, the name and the text of each node."""
    return [(str(one.kind), one.name, text[one.start : one.end].decode()) for one in tree]


def test_capture_groups_of_a_pattern_are_named_or_numbered():
    text = b"2020-12-aab"
    found = parse("regex", r"(?P<year>\d{4})-(?:(\d\d))-((a)*b)", text)
    assert [one[1:] for one in outline(found.trees[0], text) if one[0] == "group"] == [
        ("year", "2020"),
        ("2", "12"),
        ("3", "aab"),
        ("4", "a"),
        ("4", "a"),
    ]


@pytest.mark.parametrize(
    ("pattern", "text", "count"),
    [
        (r"a*a*", b"aa", 2),
        (r"^(a|ab)(c|bcd)$", b"abcd", 1),
        (r"(a|ab)(bc|c)", b"abc", 2),
        (r"(?:(?=ab)a|a(?!b))(b|c)", b"ab", 1),
        (r"(?:(?<=x)a|a)?x?a", b"xa", 1),
        (r"(x)?(?:(?<=x)a|a)", b"xa", 2),
        (r"(x)?(?:(?<=x)a|(?<!x)a)", b"xa", 1),
        (r"(a|b|ab)*", b"abab", 2),
        (r"\bfoo\b|foo", b"foo", 2),
    ],
)
def test_readings_depend_on_alternatives_and_conditions(pattern, text, count):
    found = parse("regex", pattern, text)
    assert found.outcome is ParseOutcome.COMPLETE
    assert len(found.trees) == count


def test_a_beginning_has_open_nodes():
    text = b"1+"
    tree = parse("gbnf", 'root ::= sum\nsum ::= n ("+" n)*\nn ::= [0-9]+\n', text).trees[0]
    names = [(one.name, one.end) for one in tree if one.kind is NodeKind.RULE]
    assert names == [("root", None), ("sum", None), ("n", 1)]


def test_a_lookahead_is_decided_by_what_follows():
    grammar = compile_grammar("regex", r"(?:(?=ab)(a)|(a))(b|c)")
    parser = TextParser(grammar)
    names = [
        [{one.name for one in tree if one.kind is NodeKind.GROUP} for tree in parser.parse(text).trees]
        for text in (b"a", b"ac", b"ab")
    ]
    assert names == [[{"1"}, {"2"}], [{"2", "3"}], [{"1", "3"}, {"2", "3"}]]


def test_a_refused_text_names_what_was_open_and_what_was_tried():
    text = b"f(1;"
    grammar = 'root ::= call\ncall ::= name "(" args ")"\nname ::= [a-z]+\nargs ::= num ("," num)*\nnum ::= [0-9]+\n'
    found = parse("gbnf", grammar, text)
    assert (found.outcome, found.legal) == (ParseOutcome.REFUSED, 3)
    shown = {one.names: (one.start, one.expected) for one in found.attempts}
    assert shown == {
        ("num", "args", "call", "root"): (2, ((48, 57),)),
        ("args", "call", "root"): (2, ((44, 44),)),
        ("call", "root"): (0, ((41, 41),)),
    }
    assert [found.trees[0][one.node].name for one in found.attempts] == ["num", "args", "call"]


SCHEMA = {
    "type": "object",
    "properties": {
        "id": {"$ref": "#/$defs/id"},
        "tags": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"enum": ["u", "v"]}]}},
        'a"b': {"type": "object"},
    },
    "required": ["id"],
    "$defs": {"id": {"type": "string", "minLength": 2}},
}


def test_the_tree_of_a_schema_follows_the_json_value():
    value = {"id": "xyz", "tags": [1, "u"], 'a"b': {"more": None, "deep": [[], {}]}}
    text = json.dumps(value).encode()
    (tree,) = parse("json_schema", json.dumps(SCHEMA), text).trees
    check_tree(tree, text, is_whole=True)
    read = [(one.kind, one.name, one.detail) for one in tree]
    assert read == [
        (NodeKind.VALUE, "", "object"),
        (NodeKind.PROPERTY, "id", "string"),
        (NodeKind.PROPERTY, "tags", "array"),
        (NodeKind.ITEM, "0", "number"),
        (NodeKind.ITEM, "1", "string"),
        (NodeKind.PROPERTY, 'a"b', "object"),
        (NodeKind.PROPERTY, "more", "null"),
        (NodeKind.PROPERTY, "deep", "array"),
        (NodeKind.ITEM, "0", "array"),
        (NodeKind.ITEM, "1", "object"),
    ]
    values = [
        json.loads(text[one.start : one.end].split(b": ", 1)[-1]) for one in tree if one.kind is NodeKind.PROPERTY
    ]
    assert values == [*value.values(), None, [[], {}]]
    assert set(tree[1].pointers) == {"/properties/id", "/required/0", "/$defs/id/type", "/$defs/id/minLength"}
    assert "/properties/tags/items/anyOf/1/enum" in tree[4].pointers
    source = json.dumps(SCHEMA)
    assert [source[span.start : span.end] for span in tree[1].spans][:1] == ['"id"']


def test_a_refused_value_names_its_keywords():
    found = parse("json_schema", json.dumps(SCHEMA), b'{"id": "x"')
    (attempt,) = found.attempts
    assert attempt.names == ("/$defs/id/minLength",)
    assert found.trees[0][attempt.node].name == "id"


@pytest.mark.parametrize("prefix", [b'{"i', b'{"id": "xy", ', b'{"id": "xy", "tags": [1', b" ", b"", b'{"id": "\\u00'])
def test_the_beginning_of_a_value_has_a_tree(prefix):
    found = parse("json_schema", json.dumps(SCHEMA), prefix)
    (tree,) = found.trees
    check_tree(tree, prefix, is_whole=False)
    assert tree[0].end is None


@pytest.mark.parametrize(
    ("notation", "source", "text"),
    [
        ("gbnf", 'root ::= item ("," item)*\nitem ::= [a-z]+ | "(" root ")"\n', b"ab,(c,(d,e)),f"),
        ("gbnf", 'root ::= root "+" root | "1"\n', b"1+1+1"),
        ("gbnf", 'root ::= "a" root | "b"? | "aa" root\n', b"aaab"),
        ("json_schema", json.dumps(SCHEMA), b'{"id": "xy", "tags": [1, "u"]}'),
        ("regex", r"(a|ab)*(?=c)c?", b"abaabc"),
    ],
)
def test_a_text_that_grows_or_shrinks_is_parsed_like_a_new_one(notation, source, text):
    grammar = compile_grammar(notation, source)
    parser, lengths = TextParser(grammar), [*range(len(text) + 1), 3, 4, 2, len(text), 5]
    for length in lengths:
        part = text[:length] + (b"!" if length == 4 else b"")
        assert parser.parse(part) == TextParser(grammar).parse(part)


def test_deep_nesting_needs_no_recursion():
    text = b"(" * 3000 + b")" * 3000
    (tree,) = parse("gbnf", 'root ::= "(" root ")" | ""\n', text).trees
    check_tree(tree, text, is_whole=True)
    assert sum(one.kind is NodeKind.RULE for one in tree) == 3000


def test_a_text_with_too_many_readings_has_a_reason(monkeypatch):
    monkeypatch.setattr(chart, "MOST_ITEMS", 20_000)
    found = parse("gbnf", 'root ::= root root | "x" | ""\n', b"x" * 200)
    assert (found.outcome, found.trees) == (ParseOutcome.COMPLETE, ())
    assert "20,0" in found.reason


def test_token_elements_have_a_reason():
    found = parse("gbnf", 'root ::= <think> "a"\n', b"")
    assert found.trees == ()
    assert found.reason


def test_a_parse_can_be_cancelled():
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        TextParser(compile_grammar("regex", "a*")).parse(b"a" * 1000, cancel)
