"""The check of a server, from the sentence to the keywords of a grammar."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from engine.compile import CompiledGrammar, compile_grammar
from engine.diagnosis.case import FinishReason, RequestConstraint
from engine.diagnosis.server_probe.asking import AskingWay, RefusedSchemaError, TextJudge, asking_of
from engine.diagnosis.server_probe.constructs import CONSTRUCTS, constructs_of
from engine.diagnosis.server_probe.keyword_check import (
    IsViolation,
    check_construct,
    decide_keyword,
    try_keyword,
    violates_keyword,
    violates_rule,
)
from engine.diagnosis.server_probe.report import KeywordFinding, ProbeReport, WayFinding, WayState
from engine.diagnosis.server_probe.violating_texts import TriedConstraint, ViolatingTexts, keywords_of, tried_rules
from engine.diagnosis.server_probe.vocabulary_check import compare_vocabularies, server_vocabulary
from engine.diagnosis.server_probe.way_check import WayCheck
from engine.export import to_gbnf
from engine.peers.run_masks import form_of
from engine.servers import KINDS, ServerClient, identify
from engine.servers.grammar_form import GrammarForm
from engine.source import CancelToken, EngineError, GrammarError, LimitExceededError
from engine.vocabulary import Vocabulary

Show = Callable[[ProbeReport], None]


class UnknownWayError(EngineError):
    """The kind of server has no way of asking with this name."""


def probe_server(
    client: ServerClient,
    *,
    model: str = "",
    ways: Collection[str] = (),
    grammar: RequestConstraint | None = None,
    tokenizer: Vocabulary | None = None,
    cancel: CancelToken | None = None,
    show: Show | None = None,
) -> ProbeReport:
    """Check a server.

    Args:
        client: the server.
        model: the model that requests name; by default the first that the server lists.
        ways: the names of the ways of asking to check; by default all.
        grammar: the grammar whose keywords are checked; None for none.
        tokenizer: the vocabulary to compare with that of the server; None for none.
        cancel: cancels the check, and receives its progress.
        show: receives the report whenever it has grown; the first has a sentence.

    Raises:
        GrammarError: the grammar does not compile.
        ServerError: the server cannot be reached, wants a key, or is of no known kind.
        UnknownWayError: there is no such way.
        CancelledError: `cancel` was used.
    """
    cancel = cancel or CancelToken()
    with client.cancelled_by(cancel):
        return _Probe(client, model, ways, cancel, show or (lambda _: None)).run(grammar, tokenizer)


class _Probe:
    """One check."""

    def __init__(
        self, client: ServerClient, model: str, ways: Collection[str], cancel: CancelToken, show: Show
    ) -> None:
        self._client, self._cancel, self._show = client, cancel, show
        self._identity = identify(client, model)
        self._check = WayCheck(client, self._identity)
        kind = self._identity.kind
        self._asking = asking_of(kind)
        self._judges = {form: make(client, self._identity.model) for form, make in self._asking.text_judges.items()}
        names = [way.name for way in self._asking.ways]
        for name in ways:
            if name not in names:
                title = KINDS[kind].title
                raise UnknownWayError("errors.diagnosis.unknown_way", name=name, title=title, names=", ".join(names))
        self._ways = [way for way in self._asking.ways if not ways or way.name in ways]
        self._lacks = () if ways else self._asking.lacks
        self._report = ProbeReport(
            kind,
            KINDS[kind].title,
            self._identity.version,
            self._identity.model,
            self._identity.chat_template or "",
        )

    def run(self, grammar: RequestConstraint | None, tokenizer: Vocabulary | None) -> ProbeReport:
        compiled = None
        if grammar is not None:
            compiled = compile_grammar(grammar.notation, grammar.text, grammar.options, cancel=self._cancel)
            relevant = constructs_of(json.loads(grammar.text)) if compiled.describes_json else frozenset[str]()
            self._report = replace(self._report, relevant=relevant)
        for way in self._ways:
            self._progress("progress.asking_ways", len(self._report.ways), len(self._ways))
            self._grow(ways=(*self._report.ways, self._check.check(way)))
        self._grow(ways=(*self._report.ways, *(WayFinding(name, WayState.NOT_OFFERED) for name in self._lacks)))
        self._progress("progress.reading_vocabulary", 0, 1)
        known = server_vocabulary(self._client, self._identity)
        stops = None if known is None else tuple(sorted(known.eos_ids))
        self._grow(vocabulary=compare_vocabularies(known, tokenizer), stops=stops)
        self._check_constructs()
        if grammar is not None and compiled is not None:
            self._check_grammar(grammar, compiled)
        self._grow(is_complete=True)
        return self._report

    def _check_constructs(self) -> None:
        """Check the constructs in the first way of each route that takes a schema and whose mask is on."""
        by_path: dict[str, AskingWay] = {}
        for way in self._ways_in_force(GrammarForm.JSON_SCHEMA):
            by_path.setdefault(way.route.path, way)
        for number, (construct, way) in enumerate(product(CONSTRUCTS, by_path.values())):
            self._progress("progress.trying_constructs", number, len(CONSTRUCTS) * len(by_path))
            found = check_construct(construct, way, self._check, self._judge_of(way))
            self._grow(constructs=(*self._report.constructs, found))

    def _check_grammar(self, grammar: RequestConstraint, compiled: CompiledGrammar) -> None:
        """Check the keywords of a schema, or the rules of another grammar.

        A server that reads no regular expressions gets the rules to which a regex converts.
        """
        form, text = form_of(grammar.notation), grammar.text
        ways = self._ways_in_force(form)
        if not ways and form is GrammarForm.REGEX and (ways := self._ways_in_force(GrammarForm.GRAMMAR)):
            try:
                text = to_gbnf(compiled, cancel=self._cancel).text
            except (GrammarError, LimitExceededError):
                return
        if form is GrammarForm.JSON_SCHEMA:
            self._grow(keywords=())
            self._grow_by_refusal(lambda: self._check_keywords(grammar, ways))
        elif ways:
            self._grow(keywords=())
            self._grow_by_refusal(lambda: self._check_rules(compiled, text, ways))

    def _check_keywords(self, grammar: RequestConstraint, ways: Sequence[AskingWay]) -> None:
        """Check the keywords of a schema in a way that is in force."""
        schema = json.loads(grammar.text)
        keywords = keywords_of(schema)
        if not ways:
            found = (KeywordFinding(one.pointer, one.keyword, None, reason="not_in_force") for one in keywords)
            self._grow(keywords=tuple(found))
            return
        texts, judge = ViolatingTexts(grammar.text, grammar.options, self._cancel), self._judge_of(ways[0])
        for number, one in enumerate(keywords):
            self._progress("progress.trying_keywords", number, len(keywords))
            tried = TriedConstraint(one.pointer, one.keyword, texts.of(one), texts.legal)
            is_violation = violates_keyword(schema, one.pointer)
            self._grow_by_keyword(schema, tried, ways[0], judge, is_violation)

    def _check_rules(self, compiled: CompiledGrammar, text: str, ways: Sequence[AskingWay]) -> None:
        """Check the rules of a grammar, or a regex, in the way whose mask decides texts, or in the first in force."""
        way = next((one for one in ways if self._judge_of(one) is not None), ways[0])
        judge = self._judge_of(way)
        if judge is None and compiled.has_named_rules:
            self._grow(keywords=(self._answer_to(compiled, text, way),))
        try:
            rules = tried_rules(compiled, self._cancel)
        except LimitExceededError:
            return
        for number, tried in enumerate(rules):
            self._progress("progress.trying_rules", number, len(rules))
            self._grow_by_keyword(text, tried, way, judge, violates_rule(compiled, tried))

    def _grow_by_keyword(
        self,
        constraint: Any,
        tried: TriedConstraint,
        way: AskingWay,
        judge: TextJudge | None,
        is_violation: IsViolation,
    ) -> None:
        if judge is not None:
            found = decide_keyword(constraint, tried, judge)
        else:
            found = try_keyword(constraint, tried, way, self._check, is_violation)
        self._grow(keywords=(*(self._report.keywords or ()), found))

    def _answer_to(self, compiled: CompiledGrammar, text: str, way: AskingWay) -> KeywordFinding:
        """Return whether an answer under a grammar of rules is in its language."""
        answer = self._check.ask(way, text)
        if answer.case is None:
            raise RefusedSchemaError("errors.diagnosis.schema_refused", message=answer.message)
        written = answer.case.output or b""
        is_whole = answer.case.finish is FinishReason.STOP and not answer.case.status
        is_wrong = is_whole and not compiled.fullmatch(written)
        shown = written.decode("utf-8", "replace") if is_wrong else ""
        return KeywordFinding("", "grammar", False if is_wrong else None, shown, reason="" if is_wrong else "unseen")

    def _grow_by_refusal(self, work: Callable[[], None]) -> None:
        """Do work on the user's grammar; a refusal of it is a part of the report."""
        try:
            work()
        except RefusedSchemaError as error:
            self._grow(grammar_error=str(error.fields["message"]))

    def _ways_in_force(self, form: GrammarForm) -> list[AskingWay]:
        on = {one.name for one in self._report.ways if one.state is WayState.ON}
        plain = (way for way in self._ways if not way.streams and not way.is_call and not way.switches_thinking)
        return [way for way in plain if way.form is form and way.name in on]

    def _judge_of(self, way: AskingWay) -> TextJudge | None:
        """Return the judge of texts of a way; None if there is none, or it cannot be relied on."""
        judge = self._judges.get(way.form)
        return judge if judge is not None and judge.way == way.name and judge.is_available else None

    def _progress(self, what: str, done: int, total: int) -> None:
        self._cancel.check()
        self._cancel.report(what, done, total)

    def _grow(self, **found: object) -> None:
        self._report = replace(self._report, **found)  # type: ignore[arg-type]
        self._show(self._report)
