"""`turnstile generate`: a text that matches a grammar or a pattern, or the steps to it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from engine.cli.arguments import add_grammar, as_count, as_integer, as_natural, as_text, number_between
from engine.cli.exit_codes import ExitCode
from engine.cli.inputs import compile_argument, load_source, read_json_file
from engine.cli.output import CommandError, MisuseError, ProgressLine, print_json, print_message
from engine.cli.zones import read_zones
from engine.decoding import Finish, Generation, SamplerSettings, Step, StopRule
from engine.decoding.forced.strategies import OFF, STRATEGIES
from engine.decoding.generate import generate
from engine.decoding.pipeline_settings import (
    Afterwards,
    PipelineSettings,
    TableSettings,
    ZoneSettings,
)
from engine.decoding.stage import Field
from engine.decoding.stages import STAGES, pipeline_stages, sampler_stages
from engine.source import InvariantError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import visible


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_grammar(parser, required=False)
    parser.add_argument("--model", required=True)
    parser.add_argument("--prompt", type=as_text, default="")
    parser.add_argument("--max-tokens", type=as_count, default=256, metavar="N")
    parser.add_argument("--stop", choices=[rule.value for rule in StopRule], default=StopRule.MAXIMAL.value)
    parser.add_argument("--require-complete", action="store_true")
    parser.add_argument("--json", action="store_true")
    sampler = parser.add_argument_group("sampler")
    sampler.add_argument("--seed", type=as_natural, default=0, metavar="N")
    heat = sampler.add_mutually_exclusive_group()
    for field in _sampler_fields():
        is_heat = field.name == "temperature"
        _OPTIONS[field.type].add(heat if is_heat else sampler, field)
        if is_heat:
            heat.add_argument("--greedy", action="store_const", dest="temperature", const=0.0)
    _add_pipeline(parser)


def _add_pipeline(parser: argparse.ArgumentParser) -> None:
    """Add the options of `generate` that define a pipeline."""
    stages = parser.add_argument_group("processors")
    for field in _stage_fields():
        _OPTIONS[field.type].add(stages, field)
    stages.add_argument("--order", default=",".join(STAGES.names), metavar="NAMES")
    titles = "; ".join(f"{one.name}: {one.title[:1].lower()}{one.title[1:]}" for one in STRATEGIES)
    about = catalogue_text("cli.generate.option.forced", strategies=titles)
    stages.add_argument("--forced", "--coalesce", choices=STRATEGIES.names, default=OFF, help=about)
    zones = parser.add_argument_group("zones")
    zones.add_argument("--after", type=as_text, default="", metavar="TEXT")
    zones.add_argument("--after-token", type=as_text, default="", metavar="NAME")
    zones.add_argument("--until", type=as_text, default="", metavar="TEXT")
    zones.add_argument("--then", choices=[one.value for one in Afterwards])
    zones.add_argument("--zones", metavar="FILE")
    zones.add_argument("--optional", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Print a text that matches a grammar or a pattern, or the steps to it."""
    pipeline = _pipeline_of(arguments)
    by_tokens = any(pipeline.is_on(stage.name) for stage in STAGES if stage.is_enough)
    has_grammar = arguments.grammar is not None or arguments.grammar_file is not None
    if has_grammar != (arguments.notation is not None):
        arguments.parser.error(catalogue_text("cli.generate.error.grammar"))
    needs_grammar = pipeline.budget or pipeline.zones is not None or STRATEGIES[pipeline.forced].takes_runs
    if not has_grammar and (not by_tokens or needs_grammar):
        arguments.parser.error(catalogue_text("cli.generate.error.notation_required"))
    grammar = compile_argument(arguments) if has_grammar else None
    if grammar is not None and grammar.is_empty:
        raise CommandError("cli.generate.error.no_text")
    sampler = SamplerSettings(
        **{field.name: _given(arguments, field) for field in _sampler_fields()}, seed=arguments.seed
    )
    with ProgressLine() as cancel:
        model = load_source(arguments.model, cancel)
        generation = generate(
            grammar,
            model,
            prompt=arguments.prompt,
            sampler=sampler,
            max_tokens=arguments.max_tokens,
            stop_at=arguments.stop,
            pipeline=pipeline,
            cancel=cancel,
        )
    if generation.finish is Finish.DEAD_END:
        raise _dead_end(generation, arguments.model, by_grammar=pipeline == PipelineSettings())
    why_not = _why_incomplete(generation, model.context_length)
    if not why_not or not arguments.require_complete:
        if arguments.json:
            document = {"text": generation.text, "finish": generation.finish, "complete": generation.matches}
            print_json(document | {"steps": [_step(step) for step in generation.steps]})
        else:
            _print_text(generation)
    if not why_not:
        return ExitCode.SUCCESS
    if arguments.require_complete or not arguments.json:
        print_message(why_not)
    return ExitCode.INCOMPLETE


def _step(step: Step) -> dict[str, object]:
    # A token may be part of a character: invalid UTF-8 is escaped, so that distinct tokens stay distinct.
    token = step.name if step.token is None else step.token.decode("utf-8", "backslashreplace")
    return {
        "id": step.token_id,
        "token": token,
        "p": step.p if step.was_queried else None,
        "p_masked": step.p_masked if step.was_queried else None,
        "z": step.z if step.was_queried else None,
        **({} if step.z_bounds is None else {"z_low": step.z_bounds.low, "z_high": step.z_bounds.high}),
        "allowed": step.allowed,
        "forced": step.forced,
        "origin": step.origin,
    }


def _print_text(generation: Generation) -> None:
    """Print only the text, with a line end if a terminal would put its prompt after it."""
    ended = generation.text.endswith("\n") or not sys.stdout.isatty()
    print(generation.text, end="" if ended else "\n", flush=True)


def _dead_end(generation: Generation, model: str, *, by_grammar: bool) -> CommandError:
    """Return the error that says why nothing can follow."""
    text = visible(generation.output)
    if by_grammar and text:
        return CommandError("cli.generate.error.no_token_follows", text=text, model=model)
    if by_grammar:
        return CommandError("cli.generate.error.no_token_starts", model=model)
    if text:
        return CommandError("cli.generate.error.nothing_follows", text=text, model=model, problem=generation.problem)
    return CommandError("cli.generate.error.nothing_starts", model=model, problem=generation.problem)


def _why_incomplete(generation: Generation, context: int | None) -> str:
    """Return why a generation ended before its text was complete; empty if it is."""
    if generation.matches:
        return ""
    count = len(generation.steps)
    if generation.finish is Finish.CONTEXT:
        return catalogue_text("cli.generate.stopped.context", count=count, size=context)
    return catalogue_text("cli.generate.stopped.early", count=count)


# ---------------------------------------------------------------------- the pipeline of the options


def _pipeline_of(arguments: argparse.Namespace) -> PipelineSettings:
    """Return the pipeline settings of the options.

    Raises:
        MisuseError: they contradict each other or cannot be read; the message says which and why.
    """
    try:
        pipeline = PipelineSettings(
            order=tuple(name.strip().replace(" ", "-") for name in arguments.order.split(",")),
            zones=_zones(arguments),
            forced=arguments.forced,
        )
        for field in _stage_fields():
            pipeline = pipeline.with_values(_OPTIONS[field.type].read(arguments, field))
        for stage in STAGES:
            if stage.check is not None:
                stage.check(pipeline.values_of(stage.name))
    except InvariantError as error:
        raise MisuseError.of(error) from error
    return pipeline


def _zones(arguments: argparse.Namespace) -> ZoneSettings | None:
    trigger = arguments.after or arguments.after_token
    if not (trigger or arguments.until or arguments.then or arguments.zones):
        if arguments.optional:
            raise MisuseError("cli.generate.error.optional")
        return None
    return ZoneSettings(
        after=arguments.after,
        after_token=arguments.after_token,
        until=arguments.until,
        then=Afterwards(arguments.then or Afterwards.STOP),
        required=not arguments.optional,
        others=() if arguments.zones is None else tuple(read_zones(arguments.zones)),
    )


def _bias(given: str) -> tuple[str, float]:
    text, equals, value = given.rpartition("=")
    try:
        return text, float(value)
    except ValueError as error:
        if equals:
            reason = catalogue_text("cli.generate.error.bias_number", value=repr(value))
        else:
            reason = catalogue_text("cli.generate.error.bias_equals")
        raise MisuseError("cli.generate.error.bias", given=repr(given), reason=reason) from error


def _table(name: str) -> TableSettings:
    form = catalogue_text("cli.generate.table_form")
    document = read_json_file(name, form)
    try:
        transitions = tuple((int(state), int(token), int(after)) for state, token, after in document["transitions"])
        return TableSettings(transitions, int(document["initial"]))
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise MisuseError("cli.generate.error.table", name=name, form=form) from error


# ---------------------------------------------------------------------- the options of fields


def _stage_fields() -> list[Field]:
    """Return the fields of a pipeline's stages that have one option each; the zones have several."""
    return [field for stage in pipeline_stages() for field in stage.fields if field.type in _OPTIONS]


def _sampler_fields() -> list[Field]:
    return [field for stage in sampler_stages() for field in stage.fields]


def _given(arguments: argparse.Namespace, field: Field) -> Any:
    return getattr(arguments, field.option.lstrip("-").replace("-", "_"))


def _add_switch(group: argparse._ArgumentGroup, field: Field) -> None:
    group.add_argument(field.option, action="store_true")


def _add_line(group: argparse._ArgumentGroup, field: Field) -> None:
    group.add_argument(field.option, type=as_text, default=field.default, metavar=field.name.upper())


def _add_number(group: argparse._ArgumentGroup, field: Field) -> None:
    within = number_between(field.least, field.most, open_below=field.open_below)

    def number(text: str) -> Any:
        value = as_integer(text) if isinstance(field.default, int) else float(text)
        within(text)
        return value

    group.add_argument(field.option, type=number, default=field.default, metavar=field.metavar)


def _add_file(group: argparse._ArgumentGroup, field: Field) -> None:
    group.add_argument(field.option, metavar="FILE")


def _add_texts(group: argparse._ArgumentGroup, field: Field) -> None:
    group.add_argument(field.option, type=as_text, action="append", default=[], metavar="TEXT")
    group.add_argument(f"{field.option}-token", type=as_natural, action="append", default=[], metavar="ID")


def _add_biases(group: argparse._ArgumentGroup, field: Field) -> None:
    group.add_argument(field.option, type=as_text, action="append", default=[], metavar="TEXT=N")


def _read_one(arguments: argparse.Namespace, field: Field) -> dict[str, Any]:
    return {field.name: _given(arguments, field)}


def _read_table(arguments: argparse.Namespace, field: Field) -> dict[str, Any]:
    name = _given(arguments, field)
    return {field.name: None if name is None else _table(name)}


def _read_texts(arguments: argparse.Namespace, field: Field) -> dict[str, Any]:
    texts, ids = field.names
    return {texts: tuple(arguments.suppress), ids: tuple(arguments.suppress_token)}


def _read_biases(arguments: argparse.Namespace, field: Field) -> dict[str, Any]:
    return {field.name: tuple(_bias(given) for given in _given(arguments, field))}


class _OptionType(NamedTuple):
    """How a type of field is given on the command line.

    Attributes:
        add: declares the option of a field.
        read: returns what was given, by the names under which it is stored.
    """

    add: Callable[[argparse._ArgumentGroup, Field], None]
    read: Callable[[argparse.Namespace, Field], dict[str, Any]]


_OPTIONS: Final = {
    "switch": _OptionType(_add_switch, _read_one),
    "budget": _OptionType(_add_switch, _read_one),
    "line": _OptionType(_add_line, _read_one),
    "number": _OptionType(_add_number, _read_one),
    "transitions": _OptionType(_add_file, _read_table),
    "texts": _OptionType(_add_texts, _read_texts),
    "biases": _OptionType(_add_biases, _read_biases),
}
