"""Find what the automaton pane shows of a grammar: its automaton and rules, and the position of an output in them.

The position is the stacks of the match, the positions in the rules if these are drawn, and the neighbourhood of the
live state if the automaton is too large to draw.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from app.catalogue import ui_text
from app.graph.match.counters import merge
from app.graph.match.folding import fold_characters
from app.graph.match.rules import RuleCharts, rule_charts
from app.workers.bounded_work import TooMuchWorkError, bounded_work
from app.workers.requests.grammar_position import GrammarPosition, OpenFrame, OpenStack
from engine.automata.byte_automaton import DEAD
from engine.automata.labels import label
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.rtn.rule_tracker import RuleTracker
from engine.compile import compile_grammar
from engine.decoding.values import Bounds
from engine.notations.json_schema.json_tree import pointers, read_json
from engine.source import CancelToken, GrammarError, LimitExceededError, SourceText, Span
from engine.source.json_pointer import NAMED_SUBSCHEMAS, escape_step
from engine.source.json_scanner import JsonPath, JsonScanner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.automata.dfa.dfa import ByteDfa
    from engine.automata.nfa.stack_listing import StackFrame
    from engine.automata.rtn.rule_automata import RuleAutomata
    from engine.automata.rtn.rule_positions import RulePositions
    from engine.compile import CompiledGrammar


MATERIALISE_STATES = 20_000  # beyond, the minimal automaton is not computed at all
DRAWN_STATES = 4_000  # beyond, the window gets the surroundings of the live state instead
DRAWN_EDGES = 20_000  # the same: the window reads them all, and that must not take it longer than a frame
DRAWING_WORK = 1_000_000  # the same beyond this work, about a second: findings and steps should not wait
_RADIUS, _NODES = 2, 60  # of those surroundings


class PositionReader:
    """Finds what is drawn of one grammar, and positions of outputs in it; keeps what it computed for the next one.

    Attributes:
        charts: the drawn rules; None before they are requested, and if there are none.

    Args:
        grammar: the grammar.
    """

    def __init__(self, grammar: CompiledGrammar) -> None:
        self.grammar = grammar
        self.charts: RuleCharts | None = None
        self._automata: RuleAutomata | None = None  # of the drawn rules
        self._tracker: RuleTracker | None = None
        self._reached = b"", grammar.automaton.start  # the last output, and its configuration
        self._last: GrammarPosition | None = None  # what was returned last
        self._scanned, self._scanner = b"", JsonScanner()  # of a schema the last output

    def drawable_automaton(self, cancel: CancelToken) -> tuple[ByteDfa, str]:
        """Return the complete automaton, or its beginning and, in a few words, why it is not complete."""
        grammar = self.grammar
        if not grammar.is_regular:
            is_schema = grammar.describes_json
            kind = ui_text("common.notation.json_schema" if is_schema else "workers.compile.size.recursive")
            return self.neighbourhood(b""), kind
        try:
            with bounded_work(DRAWING_WORK):
                dfa = grammar.materialise(MATERIALISE_STATES, cancel=cancel)
            if len(dfa.states) <= DRAWN_STATES and len(dfa.edges) <= DRAWN_EDGES:
                return dfa, ""
            size = ui_text("common.count.states", count=len(dfa.states))
        except LimitExceededError:
            size = ui_text("workers.compile.size.more", limit=MATERIALISE_STATES)
        except TooMuchWorkError:
            size = ui_text("workers.compile.size.work")
        return self.neighbourhood(b""), size

    def neighbourhood(self, output: bytes) -> ByteDfa:
        """Return the part of the automaton around the state that an output leads to, which is its start."""
        return self.grammar.neighbourhood(output, radius=_RADIUS, limit=_NODES)

    def position(self, output: bytes, cancel: CancelToken, *, draws_part: bool = False) -> GrammarPosition:
        """Return the position of an output; it has positions in the rules if these were read before.

        Args:
            output: the text that is followed. What it shares with the last one is not read again.
            cancel: checked regularly.
            draws_part: whether the window draws the neighbourhood of the live state.
        """
        last = self._last
        if last is not None and last.output == output and (last.dfa is not None) == draws_part:
            return last
        stacks, more = _stacks_in(self.grammar, self._configuration(output))
        rule_positions = self.rule_positions(output, cancel)
        dfa = self.neighbourhood(output) if draws_part else None
        fold = None if dfa is None else fold_characters(dfa)
        merged = None if dfa is None else merge(dfa, fold)
        self._last = GrammarPosition(output, stacks, more, rule_positions, dfa, fold, merged, self._path(output))
        return self._last

    def count_stacks(self, output: bytes, most: int) -> Bounds:
        """Return the number of stacks after an output; if there are more than `most`, a lower bound above that."""
        stacks, more = _stacks_in(self.grammar, self._configuration(output), most + 1)
        return Bounds(len(stacks) + more, math.inf if more else len(stacks))

    def _path(self, output: bytes) -> JsonPath:
        """Return the open objects and arrays of an output of a schema."""
        if not self.grammar.describes_json:
            return ()
        if not output.startswith(self._scanned):
            self._scanned, self._scanner = b"", JsonScanner()
        for byte in output[len(self._scanned) :]:
            self._scanner.take(byte)
        self._scanned = output
        return self._scanner.ahead

    def _configuration(self, output: bytes) -> int:
        """Return the configuration after an output."""
        automaton = self.grammar.automaton
        read, configuration = self._reached
        if not output.startswith(read):
            read, configuration = b"", automaton.start
        self._reached = output, automaton.run(configuration, output[len(read) :])
        return self._reached[1]

    @property
    def rule_automata(self) -> RuleAutomata | None:
        """Return the automata of the rules that positions are in; None if no rules are drawn."""
        return self._automata

    def follow(self, automata: RuleAutomata) -> None:
        """Follow outputs through the rules from now on, so that positions have those in the rules.

        Grammars with token elements are not followed, since an output does not say which tokens were taken as a whole.
        """
        if not self.grammar.automaton.token_elements:
            self._automata, self._tracker, self._last = automata, RuleTracker(automata), None

    def rule_charts(self, cancel: CancelToken) -> tuple[RuleCharts | None, str]:
        """Return the charts of the rules, or why there are none: too slow, too large or not expressible."""
        grammar = self.grammar
        if not grammar.has_rules and not grammar.describes_json:
            return None, ""
        try:
            automata, notes = _automata_in_bound(grammar, cancel)
        except GrammarError as error:
            return None, error.diagnostics[0].message
        except LimitExceededError:
            return None, ui_text("workers.compile.fragment.rules_states", limit=DRAWN_STATES)
        except TooMuchWorkError:
            return None, ui_text("workers.compile.fragment.rules_work")
        self.follow(automata)
        self.charts = rule_charts(automata, notes, folds_texts=grammar.describes_json)
        return self.charts, ""

    def rule_positions(self, output: bytes, cancel: CancelToken) -> RulePositions | None:
        """Return the position of an output in the rules; None without drawn ones, or if there are too many parses."""
        return None if self._tracker is None else tracked_positions(self.grammar, self._tracker, output, cancel)


def tracked_positions(
    grammar: CompiledGrammar, tracker: RuleTracker, output: bytes, cancel: CancelToken
) -> RulePositions | None:
    """Return the position of an output in automata of rules; None if there are too many parses.

    Args:
        grammar: the grammar; the automata of a schema have no white space.
        tracker: follows texts in the automata.
        output: the output.
        cancel: checked regularly.
    """
    if grammar.describes_json:
        from engine.export import without_white_space  # start-up time: 38 ms

        output = without_white_space(output)
    try:
        return tracker.positions(output, cancel)
    except LimitExceededError:
        return None


def _drawn_automata(grammar: CompiledGrammar, cancel: CancelToken) -> tuple[RuleAutomata, tuple[str, ...]]:
    """Return the automata of a grammar's rules, and notes about what they omit.

    Raises:
        GrammarError: the rules cannot be expressed.
        LimitExceededError: they have too many states.
    """
    if not grammar.describes_json:
        return grammar.rule_automata(DRAWN_STATES, cancel=cancel), ()
    from engine.export import drawable_automata  # start-up time: 38 ms

    found = drawable_automata(grammar, DRAWN_STATES, cancel=cancel)
    return found.automata, found.notes


def _automata_in_bound(grammar: CompiledGrammar, cancel: CancelToken) -> tuple[RuleAutomata, tuple[str, ...]]:
    """Return what `_drawn_automata` returns if it takes less than `DRAWING_WORK`.

    Raises:
        GrammarError: as `_drawn_automata`.
        LimitExceededError: as `_drawn_automata`.
        TooMuchWorkError: it takes more.
    """
    if grammar.describes_json:
        import engine.export  # noqa: F401 - an import counts turns, and may have happened already
    with bounded_work(DRAWING_WORK):
        if grammar.describes_json:
            # Compiled anew, because what a used grammar has computed already would count no turns.
            grammar = compile_grammar(grammar.notation, grammar.source, grammar.options, cancel=cancel)
        return _drawn_automata(grammar, cancel)


MOST_STACKS = 20
_WIDTH = 60


def stack_report(grammar: CompiledGrammar, output: bytes) -> tuple[tuple[OpenStack, ...], int]:
    """Return the stacks after a text, and how many more there are at least; none if no match begins with it."""
    return _stacks_in(grammar, grammar.automaton.run(grammar.automaton.start, output))


def _stacks_in(
    grammar: CompiledGrammar, configuration: int, most: int = MOST_STACKS
) -> tuple[tuple[OpenStack, ...], int]:
    """Return at most some stacks of a configuration, and how many more there are at least."""
    automaton = grammar.automaton
    if configuration == DEAD:
        return (), 0
    # One more than is listed: the stacks beyond the limit come as one.
    parts = automaton.split_stacks(configuration, most + 1)
    found = list(dict.fromkeys(stack for part in parts[:most] for stack in _stacks(grammar, part)))
    return tuple(found[:most]), max(0, len(parts) - most) + len(found[most:])


def _stacks(grammar: CompiledGrammar, configuration: int) -> tuple[OpenStack, ...]:
    automaton = grammar.automaton
    expects = [label(ranges, _WIDTH)] if (ranges := tuple(automaton.expected(configuration))) else []
    expects += [grammar.source.excerpt(tokens.span) for tokens in automaton.token_sets(configuration)]
    expected, may_end = " ".join(expects), automaton.accepts(configuration)
    if isinstance(automaton, LazyAutomaton) and grammar.has_named_rules:
        listed = automaton.stacks(configuration, 1).stacks
        frames = _frames(listed[0].frames if listed else ())
        return (OpenStack(frames, expected, may_end, listed[0].left_out if listed else 0),)
    position_frames = _position_frames(grammar, configuration)
    return tuple(OpenStack(frames, expected, may_end) for frames in position_frames or [()])


def _frames(frames: Sequence[StackFrame]) -> tuple[OpenFrame, ...]:
    return tuple(OpenFrame(frame.rule, frame.spans, frame.may_end) for frame in reversed(frames))


def _position_frames(grammar: CompiledGrammar, configuration: int) -> list[tuple[OpenFrame, ...]]:
    """List the positions of a grammar without rules: the parts of a pattern, or of a schema, that may come next."""
    spans = grammar.automaton.spans(configuration)
    if not grammar.describes_json:
        return [(OpenFrame(grammar.source.excerpt(span), (span,)),) for span in spans]
    found = [
        _schema_frames(grammar.source, pointer, span) for span in spans for pointer in pointers(grammar.source, [span])
    ]
    if found or grammar.automaton.accepts(configuration):
        return found
    root = _schemas(grammar.source.text).get("")  # nothing is read yet, or white space at the root
    return [(OpenFrame("#", () if root is None else (root,)),)]


def _schema_frames(source: SourceText, pointer: str, span: Span) -> tuple[OpenFrame, ...]:
    """Return the frame of a position in a schema, and those of the schemas around it, the innermost first."""
    known, parts = _schemas(source.text), pointer.split("/")
    outer = ("/".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))
    frames = [OpenFrame(f"#{name}", (known[name],)) for name in outer if name in known]
    return (OpenFrame(f"#{pointer}", (span,)), *frames)


@lru_cache(maxsize=2)
def _schemas(text: str) -> dict[str, Span]:
    """Return the first character of each object that may be a schema, by pointer; not of keywords with several."""
    found: dict[str, Span] = {}
    pending = [(read_json(text), "", True)]
    while pending:
        value, pointer, is_schema = pending.pop()
        if is_schema and value.members:
            found[pointer] = Span(value.span.start, value.span.start + 1)
        for name, member in value.members.items():
            below = f"{pointer}/{escape_step(name)}"
            pending.append((member, below, not (is_schema and name in NAMED_SUBSCHEMAS)))
        pending += ((item, f"{pointer}/{index}", True) for index, item in enumerate(value.items))
    return found
