"""The railroad diagrams of a JSON Schema: one for each schema that consists of others, and for each definition.

A diagram shows the value as JSON text: an object is its members, an array its items, a reference a call. A keyword that
only restricts the value (`not`, `allOf`, `minProperties`) is a condition behind it, as all keywords are that this
module does not draw. Commas and white space are not drawn: the frame around members and items says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from engine.grammar.options import CompileOptions
from engine.notations.explanation import ExplanationEntry
from engine.notations.json_schema.dialects import BELOW, ENFORCED, LIST, NAMED, ONE, SchemaDraft
from engine.notations.json_schema.explanation import (
    FACTS,
    SchemaContext,
    SchemaWriter,
    describe_types,
    type_name,
)
from engine.notations.json_schema.json_tree import Json
from engine.notations.node_explanation import times
from engine.notations.railroad import Railroad, RailroadRule, Track, TrackKind, box_label, plain_words
from engine.source import SourceText, Span, checkpoint
from engine.source.catalogue import catalogue_text
from engine.source.json_pointer import escape_step
from engine.source.text import quoted

_DEFINITIONS = frozenset(("$defs", "definitions"))
_DIVIDED = frozenset(
    """allOf anyOf oneOf not if properties patternProperties additionalProperties items prefixItems contains
    dependentSchemas dependencies""".split()
)
_OBJECT = frozenset("properties patternProperties additionalProperties".split())
_ARRAY = frozenset("items prefixItems additionalItems".split())
_COUNTS = frozenset("minItems maxItems".split())
_BRANCHES = ("anyOf", "oneOf")
_COMBINED = {"allOf": "also", "anyOf": "also_any", "oneOf": "also_one", "not": "not"}


def schema_railroad(source: SourceText, options: CompileOptions) -> Railroad:
    """Return the diagrams of a schema; see `Notation.railroad`."""
    writer = SchemaWriter.of(source, options)
    return Railroad(tuple(_SchemaTracks(source, writer, any_order=options.property_order == "any").rules))


class _SchemaTracks:
    """Makes tracks of the schemas of one text.

    Attributes:
        rules: the schemas that have a diagram, in source order.
    """

    def __init__(self, source: SourceText, writer: SchemaWriter, *, any_order: bool) -> None:
        self._source, self._writer = source, writer
        self._order = "any_order" if any_order else "in_order"
        self._names: dict[int, str] = {}
        self.rules = sorted(self._rules(), key=lambda rule: (rule.span.start, -rule.span.end))

    def _rules(self) -> Iterator[RailroadRule]:
        todo = [(self._writer.root, "#", self._writer.root.span.start, True)]
        while todo:
            checkpoint()
            node, name, begin, is_named = todo.pop()
            if not node.members and not is_named:
                continue
            if is_named or not _DIVIDED.isdisjoint(node.members):
                self._names[node.number] = name
                yield RailroadRule(name, Span(begin, node.span.end), partial(self.value, node))
            for keyword in node.members.keys() & BELOW:
                part, under = node.members[keyword], f"{name}/{escape_step(keyword)}"
                if keyword in NAMED:
                    todo += [
                        (one, f"{under}/{escape_step(key)}", part.key_spans[key].start, keyword in _DEFINITIONS)
                        for key, one in part.members.items()
                        if not isinstance(one.value, list)
                    ]
                elif keyword in LIST and part.items:
                    todo += [(one, f"{under}/{at}", one.span.start, False) for at, one in enumerate(part.items)]
                elif keyword in ONE:
                    todo.append((part, under, node.key_spans[keyword].start, False))

    # --- values ------------------------------------------------------------------------------------------------------

    def value(self, node: Json) -> Track:
        """Return the track of the values of a schema."""
        if not node.members:
            return self._leaf(node)
        main, drawn = self._main(self._writer.here(node))
        conditions = tuple(self._conditions(node, drawn))
        if not conditions:
            return main
        return Track(TrackKind.SEQUENCE, node.span, inner=lambda: (main, *conditions))

    def _part(self, node: Json) -> Track:
        """Return the track of a schema inside another one: a call, if it has a diagram of its own."""
        if node.number not in self._names:
            return self.value(node)
        words = self._writer.summary(node)
        return Track(TrackKind.CALL, node.span, plain_words(words), words, target=self._names[node.number])

    def _call(self, node: Json, reference: Json) -> Track:
        target = self._writer.target(node, reference)
        words = catalogue_text("explanation.schema.keyword.reference", target=quoted(str(reference.value)))
        name = "" if target is None else self._names.get(target.number, "")
        return Track(TrackKind.CALL, reference.span, box_label(str(reference.value)), words, target=name)

    def _leaf(self, node: Json) -> Track:
        words = self._writer.summary(node)
        return Track(TrackKind.SET, node.span, plain_words(words), words)

    def _main(self, here: SchemaContext) -> tuple[Track, frozenset[str]]:
        """Return the track of a schema without its conditions, and the keywords that it shows."""
        node, members = here.node, here.node.members
        listed = members.get("enum")
        reference = members.get("$ref")
        if reference is not None and here.draft <= SchemaDraft.DRAFT_7:
            return self._call(node, reference), frozenset(members)
        if listed is not None and listed.items:
            return self._choice(listed, [self._literal(item) for item in listed.items]), frozenset({"enum"})
        if "const" in members:
            return self._literal(members["const"]), frozenset({"const"})
        if reference is not None:
            return self._call(node, reference), frozenset({"$ref"})
        has_parts = not (_OBJECT | _ARRAY).isdisjoint(members)
        branch = next((name for name in _BRANCHES if members.get(name) is not None), None)
        if branch is not None and not has_parts:
            part = members[branch]
            words = catalogue_text(f"explanation.schema.keyword.{branch}", count=len(part.items))
            inner = self._choice(part, [self._part(item) for item in part.items])
            return Track(TrackKind.GROUP, part.span, plain_words(words), words, lambda: (inner,)), frozenset({branch})
        if has_parts:
            return self._typed(here)
        return self._plain(here)

    def _plain(self, here: SchemaContext) -> tuple[Track, frozenset[str]]:
        """Return one box for all values; beside other schemas, of their type alone."""
        if here.node.members.keys().isdisjoint(_COMBINED):
            return self._leaf(here.node), frozenset({"type", *FACTS})
        part = here.other("type")
        words = catalogue_text("explanation.schema.any") if part is None else describe_types(here, part)
        span = here.node.span if part is None else part.span
        return Track(TrackKind.SET, span, plain_words(words), words), frozenset({"type"})

    def _choice(self, part: Json, inner: list[Track]) -> Track:
        return inner[0] if len(inner) == 1 else Track(TrackKind.CHOICE, part.span, inner=lambda: tuple(inner))

    def _literal(self, part: Json) -> Track:
        text = " ".join(self._source.excerpt(part.span).split())
        return Track(TrackKind.TEXT, part.span, box_label(text), quoted(box_label(text)))

    def _typed(self, here: SchemaContext) -> tuple[Track, frozenset[str]]:
        """Return an object, an array, or a choice of these and other types."""
        node, drawn = here.node, {"type"}
        part = node.members.get("type")
        names = [] if part is None else [str(name.value) for name in part.items or (part,)]
        tracks: list[Track] = []
        for kind, keywords, make in (("object", _OBJECT, self._object), ("array", _ARRAY, self._array)):
            if (not names or kind in names) and not keywords.isdisjoint(node.members):
                tracks.append(make(here))
                names = [name for name in names if name != kind]
                drawn |= keywords | (_COUNTS if kind == "array" else frozenset())
                if kind == "object" and self._requires_declared(here):
                    drawn.add("required")
        if not tracks:
            return self._plain(here)
        words = (
            [type_name(name) for name in names]
            if part is not None
            else [catalogue_text("railroad.fragment.other_types")]
        )
        place = node.span if part is None else part.span
        tracks += [Track(TrackKind.SET, place, plain_words(one), one) for one in words]
        return self._choice(node, tracks), frozenset(drawn)

    # --- objects and arrays ------------------------------------------------------------------------------------------

    def _requires_declared(self, here: SchemaContext) -> bool:
        """Return whether every required property is declared, so that the tracks show all of `required`."""
        required, properties = here.other("required"), here.other("properties")
        names = set() if properties is None else set(properties.members)
        return required is None or all(item.value in names for item in required.items)

    def _object(self, here: SchemaContext) -> Track:
        words = catalogue_text(f"railroad.fragment.{self._order}")
        return Track(TrackKind.GROUP, here.node.span, words, words, lambda: (self._members(here),))

    def _members(self, here: SchemaContext) -> Track:
        properties, required = here.other("properties"), here.other("required")
        needed = {item.value for item in required.items} if required is not None else set()
        start, end = here.node.span.start, here.node.span.end
        tracks = [_mark("{", Span(start, start + 1))]
        for name, node in properties.members.items() if properties is not None else ():
            assert properties is not None
            key = properties.key_spans[name]
            member = self._member(self._literal_key(key), node, Span(key.start, node.span.end))
            tracks.append(member if name in needed else _optional(member))
        others = here.other("patternProperties")
        for pattern, node in others.members.items() if others is not None else ():
            assert others is not None
            key = others.key_spans[pattern]
            words = catalogue_text("railroad.fragment.pattern", pattern=quoted(pattern))
            name_track = Track(TrackKind.SET, key, plain_words(words), words)
            tracks.append(_any_number(self._member(name_track, node, Span(key.start, node.span.end))))
        tracks += self._additional(here)
        return Track(TrackKind.SEQUENCE, here.node.span, inner=lambda: (*tracks, _mark("}", Span(end - 1, end))))

    def _additional(self, here: SchemaContext) -> Iterator[Track]:
        if self._writer.is_closed(here):
            return
        part = here.other("additionalProperties")
        words = catalogue_text("railroad.fragment.other_name")
        span = here.node.span if part is None else part.span
        place = Span(span.end - 1, span.end) if part is None else span
        name_track = Track(TrackKind.SET, place, words, words)
        if part is None or not part.members:
            yield _any_number(Track(TrackKind.SEQUENCE, place, inner=lambda: (name_track, _any_value(place))))
        else:
            yield _any_number(self._member(name_track, part, span))

    def _literal_key(self, key: Span) -> Track:
        text = self._source.excerpt(key)
        return Track(TrackKind.TEXT, key, box_label(f"{text}:"), quoted(box_label(f"{text}:")))

    def _member(self, name: Track, node: Json, span: Span) -> Track:
        return Track(TrackKind.SEQUENCE, span, inner=lambda: (name, self._part(node)))

    def _array(self, here: SchemaContext) -> Track:
        words = catalogue_text("railroad.fragment.array")
        return Track(TrackKind.GROUP, here.node.span, words, words, lambda: (self._items(here),))

    def _items(self, here: SchemaContext) -> Track:
        items, prefix, span = here.other("items"), here.other("prefixItems"), here.node.span
        rest = items
        if items is not None and isinstance(items.value, list):
            prefix, rest = items, here.other("additionalItems")
        first = prefix.items if prefix is not None else []
        least, most = (_number(here.other(name)) for name in ("minItems", "maxItems"))
        place = Span(span.end - 1, span.end)
        track = Track(TrackKind.EMPTY, place)
        if rest is None or rest.value is not False:
            item = _any_value(place) if rest is None else self._part(rest)
            fewest = max((least or 0) - len(first), 0)
            bound = None if most is None else max(most - len(first), fewest)
            track = _repeated(item, place if rest is None else rest.span, fewest, bound)
        for number in range(len(first), 0, -1):
            track = self._before(first[number - 1], track)
            if number > (least or 0):
                track = _optional(track)
        inner = _mark("[", Span(span.start, span.start + 1)), track, _mark("]", place)
        return Track(TrackKind.SEQUENCE, span, inner=lambda: inner)

    def _before(self, item: Json, rest: Track) -> Track:
        span = Span(item.span.start, max(item.span.end, rest.span.end))
        return Track(TrackKind.SEQUENCE, span, inner=lambda: (self._part(item), rest))

    # --- conditions --------------------------------------------------------------------------------------------------

    def _conditions(self, node: Json, drawn: frozenset[str]) -> Iterator[Track]:
        """Yield a condition for each keyword that restricts the value and is not drawn."""
        for keyword, part in node.members.items():
            if keyword in drawn or keyword not in ENFORCED:
                continue
            for entry in self._writer.restrictions(node, keyword):
                if keyword in _BRANCHES:
                    yield self._combined(keyword, entry, self._choice(part, [self._part(one) for one in part.items]))
                elif keyword in _COMBINED:
                    for one in part.items or (part,):
                        yield self._combined(keyword, entry, self._part(one))
                else:
                    yield Track(TrackKind.CONDITION, entry.span, plain_words(entry.text), entry.text)

    def _combined(self, keyword: str, entry: ExplanationEntry, track: Track) -> Track:
        words = catalogue_text(f"railroad.fragment.{_COMBINED[keyword]}")
        return Track(TrackKind.CONDITION, track.span, words, entry.text, lambda: (track,))


def _number(part: Json | None) -> int | None:
    """Return the value of a count."""
    return None if part is None else int(part.value)  # type: ignore[arg-type]  # a valid schema has a number here


def _mark(text: str, span: Span) -> Track:
    return Track(TrackKind.TEXT, span, text, quoted(text))


def _any_value(span: Span) -> Track:
    words = catalogue_text("explanation.schema.any")
    return Track(TrackKind.SET, span, words, words)


def _optional(track: Track) -> Track:
    return _repeated(track, track.span, 0, 1)


def _any_number(track: Track) -> Track:
    return _repeated(track, track.span, 0, None)


def _repeated(track: Track, span: Span, minimum: int, maximum: int | None) -> Track:
    words = times(minimum, maximum)
    return Track(TrackKind.REPEAT, span, words, words, lambda: (track,), minimum, maximum)
