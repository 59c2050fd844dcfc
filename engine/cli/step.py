"""`turnstile step`: the state of a match after a text, what may come next, and the stacks of rules."""

from __future__ import annotations

import argparse

from engine.automata.byte_automaton import DEAD
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.stack_listing import ParseStack, StackFrame, StackListing
from engine.cli.arguments import add_grammar, as_count, as_text
from engine.cli.inputs import compile_argument
from engine.cli.output import CommandError, IllegalTextError, IllegalVerdict, after_text, location_of, print_json
from engine.compile import CompiledGrammar
from engine.matching.byte_descriptions import byte_prose
from engine.source import SourceText
from engine.source.catalogue import catalogue_text


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_grammar(parser)
    parser.add_argument("--text", type=as_text, default="")
    parser.add_argument("--stacks", action="store_true")
    parser.add_argument("--most-stacks", type=as_count, default=20, metavar="N")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Print the state of a match after a text, and what may come next."""
    grammar = compile_argument(arguments)
    most_stacks = arguments.most_stacks if arguments.stacks else 0
    if arguments.json:
        print_json(_as_data(grammar, arguments.text, most_stacks))
    else:
        print("\n".join(_as_lines(grammar, arguments.text, most_stacks)))
    return 0


def _as_data(grammar: CompiledGrammar, text: str, most_stacks: int) -> dict[str, object]:
    """Describe the state of a match after a text, as a document; `most_stacks` of 0 omits the stacks.

    Args:
        grammar: the grammar.
        text: the text.
        most_stacks: the largest number of listed stacks.

    Raises:
        IllegalTextError: no match begins with the text.
        CommandError: stacks are requested for a grammar without rules.
    """
    configuration = _after(grammar, text.encode())
    automaton, source = grammar.automaton, grammar.source
    document: dict[str, object] = {
        "legal": True,
        "accepting": automaton.accepts(configuration),
        "expected": [list(pair) for pair in automaton.expected(configuration)],
        "next": [location_of(span, source) for span in automaton.spans(configuration)],
    }
    if most_stacks:
        found = _stacks(grammar, configuration, most_stacks)
        document["stacks"] = [
            {"frames": [_frame(frame, source) for frame in stack.frames], "left_out": stack.left_out}
            for stack in found.stacks
        ]
        document["more"] = found.more
        document["stack_counts"] = _counts(grammar, text, most_stacks)
    return document


def _as_lines(grammar: CompiledGrammar, text: str, most_stacks: int) -> list[str]:
    """Describe the same as lines of text; each rule of a stack is followed by what may come next in it.

    Args:
        grammar: the grammar.
        text: the text.
        most_stacks: the largest number of listed stacks.

    Raises:
        CommandError: as `_as_data`.
    """
    configuration = _after(grammar, text.encode())
    expected = grammar.automaton.expected(configuration)
    lines = [catalogue_text("cli.step.next", bytes=byte_prose(expected))]
    may_end = grammar.automaton.accepts(configuration)
    lines.append(catalogue_text("cli.step.accepting" if may_end else "cli.step.not_accepting"))
    if most_stacks:
        found = _stacks(grammar, configuration, most_stacks)
        lines += [_line(stack, grammar.source) for stack in found.stacks]
        lines += [catalogue_text("cli.step.more_stacks", count=found.more)] if found.more else []
        counts = ", ".join(f"{count:,}" for count in _counts(grammar, text, most_stacks))
        lines.append(catalogue_text("cli.step.stack_counts", counts=counts))
    return lines


def _after(grammar: CompiledGrammar, data: bytes) -> int:
    automaton = grammar.automaton
    configuration = automaton.start
    for length, byte in enumerate(data):
        following = automaton.run(configuration, bytes((byte,)))
        if following == DEAD:
            expected = automaton.expected(configuration)
            spans = [location_of(span, grammar.source) for span in automaton.spans(configuration)]
            where = after_text(data[:length].decode(errors="backslashreplace"))
            verdict = IllegalVerdict(length, expected, spans)
            raise IllegalTextError("cli.step.illegal", verdict, where=where, bytes=byte_prose(expected))
        configuration = following
    if configuration == DEAD:
        raise IllegalTextError("cli.message.no_text_begins")
    return configuration


def _stacks(grammar: CompiledGrammar, configuration: int, limit: int) -> StackListing:
    if not isinstance(grammar.automaton, LazyAutomaton):
        raise CommandError("cli.step.no_rules")
    return grammar.automaton.stacks(configuration, limit)


def _counts(grammar: CompiledGrammar, text: str, limit: int) -> list[int]:
    """Return the number of stacks before the first character of a text and after each."""
    configurations = [grammar.automaton.start]
    for character in text:
        configurations.append(grammar.automaton.run(configurations[-1], character.encode()))
    listings = [_stacks(grammar, configuration, limit) for configuration in configurations]
    return [len(found.stacks) + found.more for found in listings]


def _frame(frame: StackFrame, source: SourceText) -> dict[str, object]:
    return {
        "rule": frame.rule,
        "next": [location_of(span, source) for span in frame.spans],
        "may_end": frame.may_end,
        "left_recursive": frame.is_corner,
    }


def _line(stack: ParseStack, source: SourceText) -> str:
    frames = []
    end = catalogue_text("cli.step.end")
    for frame in stack.frames:
        excerpts = list(dict.fromkeys(f"`{' '.join(source.excerpt(span).split())}`" for span in frame.spans))
        excerpts += [end] if frame.may_end else []
        frames.append(f"{frame.rule} {' | '.join(excerpts)}")
    if stack.left_out:
        frames.insert(len(frames) // 2, catalogue_text("cli.step.more_frames", count=stack.left_out))
    return " > ".join(frames) or end
