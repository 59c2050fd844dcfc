"""The causes of differences: which keyword, rule or form of a value makes two masks part, and a text that proves it.

Our own reading of the grammar says which engine departs from it. If the grammar forbids what an engine allows, the
cause is the smallest set of keywords without which the grammar allows it too. If the grammar allows what an engine
forbids, the cause is found by experiment: the engine allows it under a grammar without a keyword, or with one that
states what the standard says where the keyword is absent. If only a form of a value is at stake, such as white space,
the cause is that form. A cause that is known is tried before a new one is searched.
"""

from __future__ import annotations

import copy
import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar, compile_grammar
from engine.diagnosis.differences.directed_walk import keywords_of, texts_without
from engine.diagnosis.differences.engines import ComparedEngine
from engine.diagnosis.differences.reference import Forms, Reference, allows, completed
from engine.diagnosis.differences.values import FORMS, CauseKind, Difference, Direction, Parting
from engine.diagnosis.failures.counterfactual import Counterfactual, schema_counterfactual, without_keywords
from engine.diagnosis.failures.schema_check import COMPOSITE, parts_of, violated_keywords
from engine.diagnosis.failures.tolerant_json import read_output
from engine.diagnosis.failures.violations import spans_at
from engine.peers.adapter import GreedyTokenizer, eos_id_of
from engine.peers.masks import FollowedText
from engine.source import CancelToken, LimitExceededError, Span, TimeUpError
from engine.source.json_pointer import NAMED_SUBSCHEMAS, resolve_pointer, unescape_step
from engine.targets import Effect
from engine.vocabulary import Vocabulary

_MOST_SEARCHES: Final = 60
_MOST_TOKENS: Final = 400  # of a prefix, of which each is explained
_MOST_TRIED: Final = 6  # prefixes of a cause, for a text that proves it
_SAMPLE: Final = 12  # texts of an experiment
_CLOSING: Final = (b"}", b"]", b'"')
_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf]")
_OF_NUMBERS: Final = frozenset(b"%c" % byte for byte in b"-+.eE0123456789")
_WORDS: Final = frozenset(("type", "properties", "$ref", "items"))
"""Keywords without which a schema describes something else: no experiment removes them."""
_Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Token:
    """A token that one engine allows and the other does not.

    Attributes:
        parting: the prefix.
        token_id: the token.
        data: the prefix with its bytes, and what ends a number that they complete; the prefix alone for an EOS.
        start: the number of bytes of the prefix and the token.
        is_end: whether it is an EOS.
        is_whole: whether `data` must be complete to be legal.
        looser: the index of the engine that allows it.
    """

    parting: Parting
    token_id: int
    data: bytes
    start: int
    is_end: bool
    is_whole: bool
    looser: int

    @property
    def path(self) -> _Ids:
        """Return the token ids of the prefix, with the token unless it is an EOS."""
        has_bytes = not self.is_end and self.token_id >= 0
        return (*self.parting.path, self.token_id) if has_bytes else self.parting.path


@dataclass(slots=True)
class _Group:
    """The tokens with one cause."""

    difference: Difference
    looser: int
    tokens: list[_Token] = field(default_factory=list)
    grammar: CompiledGrammar | None = None
    """The grammar that allows them; None if the cause is another."""
    text: bytes | None = None
    """A text that only one engine accepts; None if none was found."""


class Explainer:
    """Explains the prefixes at which the masks of two engines differ.

    Attributes:
        unexplained: the number of prefixes that were left without a cause.
    """

    def __init__(
        self,
        engines: tuple[ComparedEngine, ComparedEngine],
        vocabulary: Vocabulary,
        reference: Reference,
        followed: Sequence[_Ids],
        seed: int,
    ) -> None:
        self._engines, self._reference, self._seed = engines, reference, seed
        self._tokens, self._end = vocabulary.tokens, eos_id_of(vocabulary)
        self._tokenizer = GreedyTokenizer(vocabulary)
        self._followed = followed
        self._cancel: CancelToken = reference.cancel
        self._groups: dict[tuple[object, ...], _Group] = {}
        self._read: dict[tuple[int, bytes], bool | None] = {}  # whether an engine accepts a text
        self._doubtful = set[_Token]()  # tokens of which it is unknown whether another form is allowed
        self._searches = 0
        self._barren = set[tuple[object, ...]]()
        self.unexplained = 0

    def differences(self, partings: Sequence[Parting]) -> tuple[list[Difference], bool]:
        """Return the distinct differences, by kind of cause, each with a text that proves it where one is found.

        Also return whether there was time enough: else some have no text, or no cause.
        """
        ordered = sorted(partings, key=lambda one: (len(one.data), one.data, one.path))
        try:
            self._explain_all(ordered)
            self._prove_all()
            self._confirm()
        except TimeUpError:
            is_explained = False
            self._add_unexplained(ordered)
        else:
            is_explained = True
        found = [self._shown(group) for group in self._groups.values()]
        kinds = list(CauseKind)
        return sorted(
            found,
            key=lambda one: (
                kinds.index(one.kind),
                self._is_strict(one),
                len(one.pointers),
                one.effect is not Effect.DROPS,
                one.text is None,
            ),
        ), is_explained

    def _explain_all(self, partings: Sequence[Parting]) -> None:
        """Find the cause of each difference."""
        forbidden: list[_Token] = []
        for number, parting in enumerate(partings):
            self._cancel.report("progress.explaining", number, len(partings))
            if parting.failure:
                self._add_failure(parting)
            tokens = [*self._tokens_of(parting, 1, parting.gained), *self._tokens_of(parting, 0, parting.lost)]
            forbidden += [token for token in tokens if not self._explain(token)]
        self._explain_forbidden(forbidden)

    def _add_unexplained(self, partings: Iterable[Parting]) -> None:
        """Add the prefixes to which no cause was assigned before the time was up."""
        explained = {(token.parting.path, group.looser) for group in self._groups.values() for token in group.tokens}
        for parting in partings:
            for looser, ids in enumerate((parting.lost, parting.gained)):
                if ids and (parting.path, looser) not in explained:
                    token = next(iter(self._tokens_of(parting, looser, ids)))
                    self._add(token, Difference(CauseKind.UNEXPLAINED, _direction(looser)))

    def _is_strict(self, found: Difference) -> bool:
        """Return whether the engine that departs from the grammar allows less than the other."""
        return found.engine == self._engines[0 if found.direction is Direction.GAINED else 1].name

    # --- tokens

    def _tokens_of(self, parting: Parting, looser: int, token_ids: _Ids) -> Iterator[_Token]:
        for token_id in sorted(token_ids, key=self._legibility)[:_MOST_TOKENS]:
            is_end = token_id == self._end
            data = parting.data if is_end else parting.data + (self._tokens[token_id] or b"")
            yield _Token(parting, token_id, data, len(data), is_end, is_end, looser)

    def _legibility(self, token_id: int) -> tuple[int, int]:
        """Return the rank of a token: those that are easy to read first."""
        data = self._tokens[token_id] or b""
        if not data.isascii():
            return 3, token_id
        return (0 if data.isalnum() or data in _CLOSING else 1 if data.strip() == data else 2), token_id

    def _explain(self, token: _Token) -> bool:
        """Explain a token, unless the grammar allows it: then the engine that forbids it must be asked."""
        try:
            return self._is_explained(token)
        except LimitExceededError:
            self.unexplained += 1
            return True

    def _is_explained(self, token: _Token) -> bool:
        reference = self._reference
        before = reference.forms_of(token.parting.data)
        after = reference.forms_of(token.data, is_whole=token.is_whole)
        if after is None or before is None:
            self._explain_allowed(token)
            return True
        kind = next((form for form in FORMS if form in after - before), None)
        if kind is CauseKind.NUMBERS and (ended := self._with_ended_number(token)) is not None:
            self._explain_allowed(ended)
            return True
        if kind is not None:
            self._add(token, Difference(kind, _direction(token.looser)))
            return True
        if not reference.plain.describes_json:
            self._add_rule(token, 1 - token.looser)
            return True
        return False

    def _with_ended_number(self, token: _Token) -> _Token | None:
        """Return a token with what ends its number, if that is illegal in every form; None if the number may end.

        A number such as 41 may be the beginning of a legal one in another form, as 41e-1 is, and illegal as it is.
        """
        if token.is_end or not token.data[-1:].isdigit():
            return None
        if allows(self._any_json, token.data, is_whole=True):
            ended = replace(token, is_whole=True)
        else:
            endings = (replace(token, data=token.data + bytes((byte,))) for byte in b"]},:")
            ended = next((one for one in endings if allows(self._any_json, one.data)), token)
        is_legal = self._reference.forms_of(ended.data, is_whole=ended.is_whole) is not None
        return None if is_legal else ended

    def _add(self, token: _Token, difference: Difference, grammar: CompiledGrammar | None = None) -> None:
        """Add a token to the group of a cause."""
        spans = difference.spans if difference.kind is CauseKind.RULE else ()
        key = (difference.kind, token.looser, difference.engine, difference.pointers, difference.rule, spans)
        group = self._groups.setdefault(key, _Group(difference, token.looser, grammar=grammar))
        group.tokens.append(token)

    def _add_failure(self, parting: Parting) -> None:
        name = self._engines[parting.failed].name
        direction = _direction(1 - parting.failed)
        found = Difference(CauseKind.FAILURE, direction, name, reason=parting.failure)
        key = (CauseKind.FAILURE, name, parting.failure)
        group = self._groups.setdefault(key, _Group(found, 1 - parting.failed))
        size = len(parting.data)
        token = _Token(parting, -1, parting.data, size, is_end=False, is_whole=False, looser=1 - parting.failed)
        group.tokens.append(token)

    def _add_rule(self, token: _Token, at_fault: int) -> None:
        automaton = self._reference.lenient.automaton
        at = automaton.run(automaton.start, token.parting.data)
        rules = automaton.open_rules(at) if at != DEAD else ()
        spans = automaton.spans(at) if at != DEAD else ()
        name = self._engines[at_fault].name
        found = Difference(CauseKind.RULE, _direction(token.looser), name, rule=next(iter(rules), ""), spans=spans)
        self._add(token, found)

    # --- what the grammar forbids

    def _explain_allowed(self, token: _Token) -> None:
        """Find the keywords that an engine does not enforce."""
        if not _begins_utf8(token.data):
            self._add(token, Difference(CauseKind.ENCODING, _direction(token.looser), self._engines[token.looser].name))
            return
        if not self._reference.plain.describes_json:
            self._add_rule(token, token.looser)
            return
        for group in sorted(self._groups.values(), key=lambda one: len(one.difference.pointers)):
            if group.looser == token.looser and group.grammar is not None and _allows(group.grammar, token):
                group.tokens.append(token)
                return
        name, direction = self._engines[token.looser].name, _direction(token.looser)
        if not allows(self._any_json, token.data, is_whole=token.is_whole):
            self._add(token, Difference(CauseKind.SYNTAX, direction, name))
            return
        at = self._reference.pointers_at(token.parting.data)
        if (token.looser, at) in self._barren or self._searches >= _MOST_SEARCHES:
            self._add_other(token, name, at)
            return
        self._searches += 1
        found = self._counterfactual_of_whole(token) or self._counterfactual(token.data, is_whole=token.is_whole)
        if found is None or not found.removed:
            self._barren.add((token.looser, at))
            self._add_other(token, name, at)
            return
        grammar = self._without(found.removed)
        self._add(token, Difference(CauseKind.KEYWORD, direction, name, found.removed), grammar)

    def _counterfactual_of_whole(self, token: _Token) -> Counterfactual | None:
        """Return the keyword that forbids the text to which the engine completes a token; None unless it is one."""
        path = token.path if token.is_end else self._engines[token.looser].complete(self._reference.source, token.path)
        if path is None:
            return None
        text = b"".join(map(self._tokenizer.token_bytes, path))
        if allows(self._reference.lenient, text, is_whole=True):
            return None
        found = self._counterfactual(text, is_whole=True)
        return found if found is not None and len(found.removed) == 1 else None

    def _counterfactual(self, data: bytes, *, is_whole: bool) -> Counterfactual | None:
        read = read_output(data.decode("utf-8", "surrogateescape"))
        options = self._reference.options(self._reference.all_forms)
        violations = () if read.root is None else violated_keywords(self._schema, read.root, options)
        return schema_counterfactual(self._schema, data, options, violations, self._cancel, is_whole=is_whole)

    def _add_other(self, token: _Token, name: str, at: tuple[str, ...]) -> None:
        self._add(token, Difference(CauseKind.OTHER, _direction(token.looser), name, at[-1:]))

    def _without(self, removed: Iterable[str]) -> CompiledGrammar:
        """Return the grammar without some keywords, with all forms."""
        return self._compiled(without_keywords(self._schema, removed), self._reference.all_forms)

    def _compiled(self, schema: Any, forms: Forms) -> CompiledGrammar:
        text = json.dumps(schema, ensure_ascii=False)
        return compile_grammar(self._reference.notation, text, self._reference.options(forms), cancel=self._cancel)

    @cached_property
    def _schema(self) -> Any:
        return json.loads(self._reference.source)

    @cached_property
    def _any_json(self) -> CompiledGrammar:
        return self._compiled(True, self._reference.all_forms)

    # --- what the grammar allows

    def _explain_forbidden(self, tokens: list[_Token]) -> None:
        """Find the keywords that make an engine forbid what the grammar allows."""
        for looser in (0, 1):
            pending = self._without_other_forms([token for token in tokens if token.looser == looser], 1 - looser)
            while pending:
                self._cancel.check()
                try:
                    pending = self._explain_first(pending, 1 - looser)
                except LimitExceededError:
                    self.unexplained += 1
                    pending = pending[1:]

    def _without_other_forms(self, tokens: list[_Token], stricter: int) -> list[_Token]:
        """Explain the tokens of values that an engine allows in another form only; return the others."""
        asked = [(token, kind, text) for token in tokens for kind, text in self._other_forms(token)]
        self._read_spelled(stricter, [text for _, _, text in asked])
        explained = set[_Token]()
        for token, kind, text in asked:
            if token in explained:
                continue
            reads = self._reads(stricter, text, token.parting)
            if reads:
                explained.add(token)
                self._add(token, Difference(kind, _direction(token.looser)))
            elif reads is None:
                self._doubtful.add(token)
        return [token for token in tokens if token not in explained]

    def _read_spelled(self, number: int, texts: Iterable[bytes]) -> None:
        """Find out at once which texts an engine accepts in their longest tokens."""
        spelled = {text: tuple(ids) for text in texts if (ids := self._tokenizer.spell(text)) is not None}
        followed = self._engines[number].follow(self._reference.source, list(spelled.values())).texts if spelled else ()
        for (text, path), found in zip(spelled.items(), followed, strict=True):
            if self._is_accepted(path, found):
                self._read[number, text] = True

    def _reads(self, number: int, text: bytes, parting: Parting) -> bool | None:
        """Return whether an engine accepts a text in some tokens; None if that is unknown.

        An engine may allow one division of forced text only. So from where the text leaves a prefix whose masks are
        known, the longest allowed token is followed.

        Args:
            number: the index of the engine.
            text: the text.
            parting: the prefix.
        """
        if (number, text) not in self._read:
            self._read[number, text] = self._is_readable(number, text, parting)
        return self._read[number, text]

    def _is_readable(self, number: int, text: bytes, parting: Parting) -> bool | None:
        path, at = list[int](), 0
        for token_id in parting.path:
            data = self._tokenizer.token_bytes(token_id)
            if not text.startswith(data, at):
                break
            path.append(token_id)
            at += len(data)
        while True:
            found = self._engines[number].follow(self._reference.source, [tuple(path)]).texts[0]
            if found.is_cut or (found.masks and not found.masks[-1]):
                return None
            if found.failure or found.reached < len(path) or at == len(text):
                return self._is_accepted(tuple(path), found)
            longest = self._tokenizer.longest(text[at:], found.masks[-1])
            if longest is None:
                return False
            path.append(longest)
            at += len(self._tokenizer.token_bytes(longest))

    def _other_forms(self, token: _Token) -> Iterator[tuple[CauseKind, bytes]]:
        """Yield a legal text with a token, for other tokens of it, and its value in other forms."""
        text = self._reference.completed(token.data, frozenset()) if self._reference.plain.describes_json else None
        try:
            value = None if text is None else json.loads(text)
        except ValueError:
            return
        if text is None:
            return
        yield CauseKind.TOKENS, text
        plain, ordered = _compact(value), _compact(_declared_first(value, self._names))
        is_number = b"\\" not in text and text[token.start - 1 : token.start] in _OF_NUMBERS
        forms = {plain: CauseKind.NUMBERS if is_number else CauseKind.ESCAPES}
        forms.setdefault(plain.replace(b"\x7f", b"\\u007f"), CauseKind.ESCAPES)
        forms.setdefault(_compact(value, ensure_ascii=True), CauseKind.ESCAPES)
        for form in (ordered, ordered.replace(b"\x7f", b"\\u007f")):
            forms.setdefault(form, CauseKind.ORDER)
        yield from ((kind, form) for form, kind in forms.items() if form != text)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Return the names of properties in the order of the schema."""
        found: dict[str, None] = {}
        for pointer, part in parts_of(self._schema):
            above, _, step = pointer.rpartition("/")
            if above.endswith("/properties"):
                found.setdefault(unescape_step(step))
            elif above.endswith("/required") and isinstance(part, str):
                found.setdefault(part)
        return tuple(found)

    def _explain_first(self, pending: list[_Token], stricter: int) -> list[_Token]:
        """Explain the first token, and all others with the same cause; return the rest."""
        token, engine = pending[0], self._engines[stricter]
        at = self._reference.pointers_at(token.parting.data)
        name, direction = engine.name, _direction(token.looser)
        if (token.looser, at, token.is_end) not in self._barren and self._searches < _MOST_SEARCHES:
            self._searches += 1
            for difference, schema in self._experiments(token, at, name):
                if self._is_allowed_by(engine, schema, [token])[0]:
                    allowed = self._is_allowed_by(engine, schema, pending)
                    for one, is_allowed in zip(pending, allowed, strict=True):
                        if is_allowed:
                            self._add(one, difference)
                    return [one for one, is_allowed in zip(pending, allowed, strict=True) if not is_allowed]
            self._barren.add((token.looser, at, token.is_end))
        if self._is_of_strings(engine, token):
            self._add(token, Difference(CauseKind.ESCAPES, direction))
            return pending[1:]
        if not self._is_allowed_if_closed(token):
            self._add(token, Difference(CauseKind.DEFAULT, direction, name, (self._closed_keyword(at),)))
            return pending[1:]
        if token in self._doubtful:
            self._add(token, Difference(CauseKind.UNEXPLAINED, direction))
            return pending[1:]
        kind = CauseKind.END if token.is_end else CauseKind.OTHER
        self._add(token, Difference(kind, direction, name, () if token.is_end else at[-1:]))
        return pending[1:]

    def _is_of_strings(self, engine: ComparedEngine, token: _Token) -> bool:
        """Return whether an engine forbids a character in every string, or an escape."""
        data = self._tokens[token.token_id] or b""
        before = token.parting.data
        is_escaped = (len(before) - len(before.rstrip(b"\\"))) % 2 == 1
        is_plain = data.isascii() and data.decode().isprintable() and b"\\" not in data
        if token.is_end or (is_plain and not is_escaped):
            return False
        path = self._tokenizer.spell((b'"\\' if is_escaped else b'"') + data)
        if path is None:
            return False
        found = engine.follow(json.dumps({"type": "string"}), [tuple(path)])
        return bool(found.texts) and found.texts[0].reached < len(path) and not found.texts[0].is_cut

    def _is_allowed_if_closed(self, token: _Token) -> bool:
        """Return whether a token is legal if objects have no properties but the declared ones."""
        return allows(self._closed, token.data, is_whole=token.is_whole)

    def _closed_keyword(self, at: Sequence[str]) -> str:
        """Return the pointer of `additionalProperties` in the innermost object schema that contains some parts."""
        for one in at:
            for pointer in _above(one):
                part = resolve_pointer(self._schema, pointer)
                if (
                    pointer.rpartition("/")[2] not in NAMED_SUBSCHEMAS
                    and isinstance(part, dict)
                    and "properties" in part
                ):
                    return f"{pointer}/additionalProperties"
        return "/additionalProperties"

    @cached_property
    def _closed(self) -> CompiledGrammar:
        options = replace(self._reference.options(self._reference.all_forms), additional="closed")
        return compile_grammar(self._reference.notation, self._reference.source, options, cancel=self._cancel)

    def _experiments(self, token: _Token, at: tuple[str, ...], name: str) -> Iterator[tuple[Difference, Any]]:
        """Yield schemas under which an engine may allow a token, the smallest change first."""
        direction = _direction(token.looser)
        behind = () if token.is_end else self._reference.pointers_at(token.data)
        near = dict.fromkeys(above for one in (*at, *behind) for above in _above(one))
        for pointer in near:
            for keyword, value in (("additionalProperties", True), ("items", True)):
                schema = _stated(self._schema, pointer, keyword, value)
                if schema is not None:
                    named = (f"{pointer}/{keyword}",)
                    yield Difference(CauseKind.DEFAULT, direction, name, named), schema
        keywords = [one for one in keywords_of(self._reference) if one.rpartition("/")[2] not in _WORDS]
        inner = [one for one in keywords if one.rpartition("/")[0] in near or one in near]
        inner.sort(key=lambda one: (_is_composite(one), -one.count("/")))
        for pointer in inner:
            yield Difference(CauseKind.KEYWORD, direction, name, (pointer,)), without_keywords(self._schema, (pointer,))

    def _is_allowed_by(self, engine: ComparedEngine, schema: Any, tokens: Sequence[_Token]) -> list[bool]:
        """Return whether an engine allows each token under another schema."""
        paths = list(dict.fromkeys(token.parting.path for token in tokens))
        found = engine.follow(json.dumps(schema, ensure_ascii=False), paths)
        if found.refused:
            return [False] * len(tokens)
        texts = dict(zip(paths, found.texts, strict=True))
        return [_is_next(token.parting.path, texts[token.parting.path], token.token_id) for token in tokens]

    # --- confirmation by experiments

    def _confirm(self) -> None:
        """Find out for each keyword that is not enforced whether the engine drops it, or all of a keyword around it."""
        confirmed: dict[tuple[object, ...], _Group] = {}
        for group in self._groups.values():
            found = group.difference
            if found.kind is CauseKind.KEYWORD and group.grammar is not None and len(found.pointers) == 1:
                group.difference = found = self._confirmed(group)
            key = (found.kind, group.looser, found.engine, found.pointers, found.rule, found.spans, found.reason)
            if key in confirmed:
                confirmed[key].tokens += group.tokens
                confirmed[key].text = confirmed[key].text or group.text
            else:
                confirmed[key] = group
        self._groups = confirmed

    def _confirmed(self, group: _Group) -> Difference:
        found, engine = group.difference, self._engines[group.looser]
        (pointer,) = found.pointers
        shown = [
            token.parting.path if token.is_end else (*token.parting.path, token.token_id) for token in group.tokens
        ]
        around = [one for one in _around(self._schema, pointer) if one != pointer]
        is_known = True
        for candidate in (*around, pointer):
            texts = (self._tokenizer.spell(text) for text in texts_without(self._reference, candidate, self._seed))
            sample = [tuple(ids) for ids in islice(texts, _SAMPLE) if ids is not None]
            sample += [*shown[:_SAMPLE], *self._followed[:_SAMPLE]]
            before = engine.follow(self._reference.source, sample)
            changed = json.dumps(without_keywords(self._schema, (candidate,)), ensure_ascii=False)
            after = engine.follow(changed, sample)
            if not all(text.is_known for text in (*before.texts, *after.texts)):
                is_known = False
            elif after == before:
                return replace(found, pointers=(candidate,), effect=Effect.DROPS)
        return replace(found, effect=Effect.APPROXIMATES) if is_known else found

    # --- proofs

    def _shown(self, group: _Group) -> Difference:
        """Return the difference of a group with its first prefix, and a text that only one engine accepts."""
        first = group.tokens[0].parting
        shown = [token.token_id for token in group.tokens if token.parting is first and token.token_id >= 0]
        if group.difference.kind is CauseKind.UNEXPLAINED:
            shown = list(first.gained if group.looser == 1 else first.lost)
        return replace(
            group.difference,
            prefix=first.data,
            gained=tuple(shown) if group.looser == 1 else (),
            lost=tuple(shown) if group.looser == 0 else (),
            prefixes=len({token.parting.path for token in group.tokens}),
            spans=group.difference.spans or self._spans(group.difference.pointers),
            text=group.text,
            accepted_by="" if group.text is None else self._engines[group.looser].name,
        )

    def _prove_all(self) -> None:
        """Find a text for each cause that only one engine accepts."""
        for number, group in enumerate(self._groups.values()):
            self._cancel.report("progress.explaining", number, len(self._groups))
            proofs = (self._proof(token, group) for token in _spread(group.tokens))
            group.text = next((text for text in proofs if text is not None), None)

    def _proof(self, token: _Token, group: _Group) -> bytes | None:
        for path in self._complete_texts(token, group):
            looser, stricter = (
                engine.follow(self._reference.source, [path]).texts[0]
                for engine in (self._engines[token.looser], self._engines[1 - token.looser])
            )
            is_known = not stricter.is_cut and (stricter.reached < len(path) or bool(stricter.masks[-1]))
            if self._is_accepted(path, looser) and is_known and not self._is_accepted(path, stricter):
                text = b"".join(map(self._tokenizer.token_bytes, path))
                if self._reads(1 - token.looser, text, token.parting) is False:
                    return text
        return None

    def _complete_texts(self, token: _Token, group: _Group) -> Iterator[_Ids]:
        """Yield texts that begin with a token after its prefix, and that may be complete."""
        if token.is_end:
            yield token.parting.path
            return
        if token.token_id >= 0:
            for grammar in (group.grammar, self._reference.plain, self._reference.lenient):
                text = None if grammar is None else completed(grammar, token.data, self._cancel)
                rest = None if text is None else self._tokenizer.spell(text[token.start :])
                if rest is not None:
                    yield (*token.path, *rest)
        engine = self._engines[token.looser]
        found = engine.complete(self._reference.source, token.path)
        if found is not None:
            yield found

    def _is_accepted(self, path: _Ids, text: FollowedText) -> bool:
        """Return whether an engine accepts all of a text, and allows its end."""
        return _is_next(path, text, self._end)

    def _spans(self, pointers: Iterable[str]) -> tuple[Span, ...]:
        """Return the places of keywords, or of what contains a keyword that is not stated."""
        named = list(pointers)
        above = [one for pointer in named for one in (pointer, pointer.rpartition("/")[0])]
        places = spans_at(self._reference.source, above) if named else {}
        found = (places.get(one, places.get(one.rpartition("/")[0])) for one in named)
        return tuple(span for span in found if span is not None)


def _compact(value: Any, *, ensure_ascii: bool = False) -> bytes:
    text = json.dumps(value, ensure_ascii=ensure_ascii, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def _declared_first(value: Any, names: Sequence[str]) -> Any:
    """Return a JSON value whose objects begin with the declared properties, in the order of their names."""
    if isinstance(value, list):
        return [_declared_first(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    keys = [*(name for name in names if name in value), *(key for key in value if key not in names)]
    return {key: _declared_first(value[key], names) for key in keys}


def _is_next(path: _Ids, text: FollowedText, token_id: int) -> bool:
    """Return whether an engine accepts all of a text, and then allows a token.

    Args:
        path: the tokens of the text.
        text: how the engine reads it.
        token_id: the token.
    """
    if text.failure or text.reached != len(path):
        return False
    words = text.masks[-1]
    return bool(words) and bool(words[token_id >> 3] >> (token_id & 7) & 1)


def _direction(looser: int) -> Direction:
    return Direction.GAINED if looser == 1 else Direction.LOST


def _begins_utf8(data: bytes) -> bool:
    """Return whether bytes are UTF-8 as far as they go; the last character may be cut."""
    try:
        getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return _SURROGATE.search(data) is None  # the decoder waits for all bytes of a surrogate


def _allows(grammar: CompiledGrammar, token: _Token) -> bool:
    try:
        return allows(grammar, token.data, is_whole=token.is_whole)
    except LimitExceededError:
        return False


def _spread(tokens: Sequence[_Token]) -> Iterator[_Token]:
    """Yield some tokens: the first, then others of different prefixes."""
    seen = set[_Ids]()
    for token in tokens:
        if token.parting.path not in seen:
            seen.add(token.parting.path)
            yield token
        if len(seen) >= _MOST_TRIED:
            return


def _above(pointer: str) -> Iterator[str]:
    """Yield a JSON Pointer and those of what contains it, the innermost first."""
    yield pointer
    while pointer:
        pointer = pointer.rpartition("/")[0]
        yield pointer


def _is_composite(pointer: str) -> bool:
    return pointer.rpartition("/")[2] in COMPOSITE


def _around(schema: Any, pointer: str) -> list[str]:
    """Return the keywords that combine subschemas and contain a keyword, the outermost first."""
    found = []
    for one in reversed(list(_above(pointer))):
        holder, _, step = one.rpartition("/")
        name = "if" if step in ("then", "else") else step
        candidate = f"{holder}/{name}"
        above = resolve_pointer(schema, holder)
        is_keyword = isinstance(above, dict) and name in above and holder.rpartition("/")[2] not in NAMED_SUBSCHEMAS
        if name in COMPOSITE and is_keyword:
            found.append(candidate)
    return found


def _stated(schema: Any, pointer: str, keyword: str, value: object) -> Any | None:
    """Return a copy of a schema that states a keyword; None if it does already, or there is no subschema."""
    changed = copy.deepcopy(schema)
    part = resolve_pointer(changed, pointer)
    other = "unevaluatedProperties" if keyword == "additionalProperties" else "unevaluatedItems"
    if not isinstance(part, dict) or keyword in part or other in part or pointer.rpartition("/")[2] in NAMED_SUBSCHEMAS:
        return None
    part[keyword] = value
    return changed
