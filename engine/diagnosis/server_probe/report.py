"""The result of a check of a server, which grows while the check runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from engine.diagnosis.failures.rules import names_listed, shown
from engine.diagnosis.server_probe.canary import CANARY_VALUE
from engine.source.catalogue import CatalogueText, catalogue_entry, catalogue_text
from engine.source.text import quoted


class WayState(StrEnum):
    """The state of a way of asking, as far as it is known."""

    ON = "on"  # no free model could have written its answer
    LATE = "late"  # the mask is on, and other text was written before or around it
    OFF = "off"  # its answer is not one that the constraint allows
    REFUSED = "refused"
    NOT_OFFERED = "not-offered"
    CUT_OFF = "cut-off"
    EMPTY = "empty"
    ERROR_TEXT = "error-text"
    COPY = "copy"  # it obeyed, as a model does that is shown the constraint
    SILENT = "silent"  # no answer in time

    @property
    def in_force(self) -> bool | None:
        """Return whether the constraint is in force; None if that is not known."""
        return {WayState.ON: True, WayState.LATE: True, WayState.OFF: False}.get(self)


class MaskState(StrEnum):
    """The state of the masks of a server."""

    ON = "on"
    OFF = "off"
    PARTLY = "partly"
    UNKNOWN = "unknown"


class ConstructState(StrEnum):
    """The treatment of a construct that engines often do not support."""

    REFUSED = "refused"
    ENFORCED = "enforced"
    DROPPED = "dropped"  # there is a mask, and the construct is not in it
    OPEN = "open"  # there is no mask: it fails open
    MASKED = "masked"  # there is a mask; whether the construct is in it is not known
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class WayFinding:
    """The finding on a way of asking.

    Attributes:
        name: the name of the way.
        state: what is known.
        text: the answer, or the server's message.
        from_token: the number of tokens before the mask; None if unknown.
        has_thoughts: whether these are thoughts.
    """

    name: str
    state: WayState
    text: str = ""
    from_token: int | None = None
    has_thoughts: bool = False

    @property
    def note(self) -> str:
        """Return what the state means, with the text that shows it."""
        entry = catalogue_entry(f"probe.way.{self.state}")
        text = self.text if self.state in (WayState.REFUSED, WayState.SILENT) else shown(self.text)
        return catalogue_text(f"probe.way.{self.state}", **_fields(entry, text))


@dataclass(frozen=True, slots=True)
class ConstructFinding:
    """What a server does with a construct.

    Attributes:
        construct: its name.
        way: the way of asking.
        state: what it does.
        text: its message, or a text that it allows and the schema does not.
    """

    construct: str
    way: str
    state: ConstructState
    text: str = ""

    @property
    def note(self) -> str:
        """Return what the state means, with the text that shows it."""
        entry = catalogue_entry(f"probe.construct.{self.state}")
        text = self.text if self.state is ConstructState.REFUSED else shown(self.text)
        return catalogue_text(f"probe.construct.{self.state}", **_fields(entry, text))


@dataclass(frozen=True, slots=True)
class KeywordFinding:
    """The result for a keyword of the user's schema, or for a rule of the user's grammar.

    Attributes:
        pointer: its place in the schema; empty for a rule.
        keyword: its name; empty for a regex.
        enforced: False if the server allows a text that violates it; True if its mask excludes the texts that were
            tried; None if that is not known.
        counterexample: a text that violates it alone, and that the server allows or wrote; empty if there is none.
        reason: why it is not known; a name of the catalogue.
        held: in how many tries the model wrote a violating text without the constraint and none with it.
    """

    pointer: str
    keyword: str
    enforced: bool | None
    counterexample: str = ""
    reason: str = ""
    held: int = 0

    @property
    def name(self) -> str:
        """Return its place, or the name of a rule."""
        return self.pointer or self.keyword or catalogue_text("probe.keyword.fragment.regex")

    @property
    def state(self) -> str:
        """Return its state: `enforced`, `dropped`, `held` or `unknown`."""
        if self.held:
            return "held"
        return {True: "enforced", False: "dropped", None: "unknown"}[self.enforced]

    @property
    def note(self) -> str:
        """Return a sentence about it."""
        if self.held:
            return catalogue_text("probe.keyword.held", count=self.held)
        if self.reason:
            return catalogue_text(f"probe.keyword.{self.reason}")
        state = "enforced" if self.enforced else "dropped"
        entry = catalogue_entry(f"probe.keyword.{state}")
        return catalogue_text(f"probe.keyword.{state}", **_fields(entry, shown(self.counterexample)))


@dataclass(frozen=True, slots=True)
class VocabularyFinding:
    """A comparison of the server's vocabulary with that of a tokenizer.

    Attributes:
        is_same: whether they are equal; None if that is not known.
        token_id: the first id that differs.
        here, there: the bytes or the name of this token in the tokenizer and on the server, as text.
        reason: why it is not known; a name of the catalogue.
    """

    is_same: bool | None
    token_id: int | None = None
    here: str = ""
    there: str = ""
    reason: str = ""

    @property
    def note(self) -> str:
        """Return a sentence about it."""
        if self.reason:
            return catalogue_text(f"probe.vocabulary.fragment.{self.reason}")
        if self.is_same:
            return catalogue_text("probe.vocabulary.fragment.same")
        return catalogue_text("probe.vocabulary.fragment.differs", id=self.token_id, here=self.here, there=self.there)


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What was found of a server.

    Attributes:
        kind, title: the kind of server and its name.
        version, model: what it says of itself; empty if it does not.
        template: the beginning of its chat template; empty if it does not say.
        ways: the ways of asking.
        constructs: constructs that engines often do not support.
        keywords: the keywords of the user's schema, or the rules of the user's grammar; None if there is none.
        grammar_error: the server's message if it refuses the user's grammar; empty if it does not.
        relevant: the constructs that the user's grammar has; None without a grammar, when all of them count.
        stops: the ids of the tokens that end an output; None if unknown.
        vocabulary: the comparison of the vocabularies.
        is_complete: whether the check ended.
    """

    kind: str
    title: str
    version: str = ""
    model: str = ""
    template: str = ""
    ways: tuple[WayFinding, ...] = ()
    constructs: tuple[ConstructFinding, ...] = ()
    keywords: tuple[KeywordFinding, ...] | None = None
    grammar_error: str = ""
    relevant: frozenset[str] | None = None
    stops: tuple[int, ...] | None = None
    vocabulary: VocabularyFinding = field(default_factory=lambda: VocabularyFinding(None, reason="not_read"))
    is_complete: bool = False

    @property
    def from_token(self) -> int | None:
        """Return the number of tokens before the mask in the first way in force; None if none is, or it is unknown."""
        return next((one.from_token for one in self.ways if one.state.in_force), None)

    @property
    def fails_open(self) -> tuple[str, ...]:
        """Return the constructs that the server accepts and then applies no mask, or one without the construct."""
        bad = (ConstructState.OPEN, ConstructState.DROPPED)
        return tuple(dict.fromkeys(one.construct for one in self.constructs if one.state in bad))

    @property
    def faults(self) -> tuple[str, ...]:
        """Return what is wrong, a part of a sentence each."""
        found = []
        if off := [one.name for one in self.ways if one.state is WayState.OFF]:
            found.append(catalogue_text("probe.fault.fragment.off", names=names_listed(off)))
        if late := [one for one in self.ways if one.state is WayState.LATE]:
            found.append(
                catalogue_text("probe.fault.fragment.late", name=quoted(late[0].name), text=shown(late[0].text))
            )
        if dropped := [one for one in self.keywords or () if one.enforced is False]:
            names = names_listed(tuple(dict.fromkeys(one.keyword or one.name for one in dropped)))
            found.append(
                catalogue_text("probe.fault.fragment.keywords", names=names, text=shown(dropped[0].counterexample))
            )
        if constructs := [one for one in self.fails_open if self.relevant is None or one in self.relevant]:
            found.append(catalogue_text("probe.fault.fragment.open", names=names_listed(constructs)))
        return tuple(found)

    @property
    def mask(self) -> MaskState:
        """Return whether the server applies masks, as far as it is known."""
        known = [one.state.in_force for one in self.ways if one.state.in_force is not None]
        if not known or (self.grammar_error and any(known)):
            return MaskState.UNKNOWN
        if not any(known):
            return MaskState.OFF
        return MaskState.PARTLY if self.faults else MaskState.ON

    @property
    def sentence(self) -> str:
        """Return the finding in one sentence."""
        known = [one for one in self.ways if one.state.in_force is not None]
        mask = self.mask
        if mask is MaskState.UNKNOWN:
            if self.grammar_error:
                return catalogue_text(
                    "probe.sentence.grammar_refused", title=self.title, text=self.grammar_error.rstrip(".")
                )
            reason = self.ways[0].note if self.ways else catalogue_text("probe.sentence.fragment.nothing")
            return catalogue_text("probe.sentence.unknown", title=self.title, reason=reason)
        if mask is MaskState.OFF:
            text = shown(known[0].text)
            return catalogue_text("probe.sentence.off", title=self.title, text=text, allowed=shown(CANARY_VALUE))
        if mask is MaskState.PARTLY:
            return catalogue_text("probe.sentence.partly", title=self.title, faults="; ".join(self.faults))
        key = "thoughts" if any(one.has_thoughts for one in known) else "on"
        return catalogue_text(f"probe.sentence.{key}", title=self.title, count=len(known))

    def as_data(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        vocabulary: Any = {True: "same", None: None}.get(self.vocabulary.is_same)
        if self.vocabulary.is_same is False:
            there, here = self.vocabulary.there, self.vocabulary.here
            vocabulary = {"id": self.vocabulary.token_id, "server": there, "tokenizer": here}
        return {
            "kind": self.kind,
            "version": self.version or None,
            "model": self.model or None,
            "sentence": self.sentence,
            "mask": str(self.mask),
            "from_token": self.from_token,
            "fails_open": list(self.fails_open),
            "ways": [
                {
                    "name": one.name,
                    "in_force": one.state.in_force,
                    "state": str(one.state),
                    "from_token": one.from_token,
                    "text": one.text,
                }
                for one in self.ways
            ],
            "constructs": [
                {"construct": one.construct, "way": one.way, "effect": str(one.state), "text": one.text}
                for one in self.constructs
            ],
            "keywords": [
                {
                    "pointer": one.pointer,
                    "keyword": one.keyword,
                    "enforced": one.enforced,
                    "counterexample": one.counterexample or None,
                    "held": one.held,
                    "note": one.note,
                }
                for one in self.keywords or ()
            ],
            "grammar_error": self.grammar_error or None,
            "stops": None if self.stops is None else list(self.stops),
            "vocabulary": vocabulary,
            "template": self.template or None,
        }


def _fields(entry: CatalogueText, text: str) -> dict[str, str]:
    """Return the fields of a text that may have the field `text`."""
    return {"text": text} if entry.fields else {}
