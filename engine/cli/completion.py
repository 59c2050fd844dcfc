"""Completion scripts for bash, zsh and fish, generated from the parser.

Rejected: shtab, which lacks fish, and argcomplete, which starts Python at each key and must be in the shell's own
environment. No library generates all three.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.cli.arguments import ArgumentParser
from engine.source.catalogue import catalogue_text

SHELLS: Final = ("bash", "zsh", "fish")
_FILES: Final = frozenset({"FILE", "PATH", "DOCUMENT"})
_PROGRAM: Final = "turnstile"


@dataclass(frozen=True, slots=True)
class _Option:
    """An option or a positional argument of a command.

    Attributes:
        names: with their dashes; empty for a positional argument.
        about: its help, in one line.
        takes_value: whether a word follows it.
        choices: the words that may follow it; empty for any.
        takes_file: whether that word is the path of a file or folder.
        repeats: whether it may be repeated.
    """

    names: tuple[str, ...]
    about: str
    takes_value: bool
    choices: tuple[str, ...]
    takes_file: bool
    repeats: bool


@dataclass(frozen=True, slots=True)
class _Command:
    name: str
    about: str
    options: tuple[_Option, ...]


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script that completes a parser's commands in a shell."""
    if isinstance(parser, ArgumentParser):
        parser.complete()
    own = tuple(_options(parser))
    commands = tuple(_commands(parser))
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](own, commands)


def _commands(parser: argparse.ArgumentParser) -> Iterator[_Command]:
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to list what it parses
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            about = {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001
            for name, inner in action.choices.items():
                if name in about:  # else it is an alias
                    if isinstance(inner, ArgumentParser):
                        inner.complete()
                    yield _Command(name, about[name], tuple(_options(inner)))


def _options(parser: argparse.ArgumentParser) -> Iterator[_Option]:
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction) or action.help == argparse.SUPPRESS:  # noqa: SLF001
            continue
        about = " ".join(((action.help or "") % vars(action)).split())
        metavars = (action.metavar,) if isinstance(action.metavar, str) else tuple(action.metavar or ())
        yield _Option(
            tuple(action.option_strings),
            about,
            takes_value=action.nargs != 0,
            choices=tuple(str(choice) for choice in action.choices or ()),
            takes_file=bool(_FILES.intersection(metavars)) or action.dest == "model",
            repeats=isinstance(action, argparse._AppendAction),  # noqa: SLF001
        )


# ---------------------------------------------------------------------- bash


def _bash(own: Sequence[_Option], commands: Sequence[_Command]) -> str:
    lines = [
        f"# {catalogue_text('cli.completion.bash', program=_PROGRAM)}",
        f"_{_PROGRAM}() {{",
        '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" command=""',
        "    COMPREPLY=()",
        '    if ((COMP_CWORD > 1)) && [[ ${COMP_WORDS[1]} != -* ]]; then command="${COMP_WORDS[1]}"; fi',
        '    case "$command:$prev" in',
        *_bash_values(":", own),
    ]
    for command in commands:
        lines += _bash_values(f"{command.name}:", command.options)
    lines += ["    esac", '    case "$command" in']
    for command in commands:
        lines += [
            f"        {command.name})",
            f'            if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "{_names(command.options)}" -- "$cur"))',
            *(["            else _turnstile_files"] if _has_positional(command.options) else []),
            "            fi ;;",
        ]
    words = " ".join([*(command.name for command in commands), _names(own)])
    lines += [
        f'        "") COMPREPLY=($(compgen -W "{words}" -- "$cur")); _turnstile_files ;;',
        "    esac",
        "}",
        "_turnstile_files() {",
        "    compopt -o filenames 2>/dev/null",
        "    local IFS=$'\\n'",
        '    COMPREPLY+=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))',
        "}",
        f"complete -F _{_PROGRAM} {_PROGRAM}",
    ]
    return "\n".join(lines) + "\n"


def _bash_values(prefix: str, options: Sequence[_Option]) -> Iterator[str]:
    for option in options:
        if not option.names or not option.takes_value:
            continue
        pattern = "|".join(f"{prefix}{name}" for name in option.names)
        if option.choices:
            words = " ".join(option.choices)
            yield f'        {pattern}) COMPREPLY=($(compgen -W "{words}" -- "$cur")); return ;;'
        else:
            yield f"        {pattern}) {'_turnstile_files; ' if option.takes_file else ''}return ;;"


def _names(options: Sequence[_Option]) -> str:
    return " ".join(name for option in options for name in option.names)


def _has_positional(options: Sequence[_Option]) -> bool:
    return any(not option.names for option in options)


# ---------------------------------------------------------------------- zsh


def _zsh(own: Sequence[_Option], commands: Sequence[_Command]) -> str:
    lines = [
        f"#compdef {_PROGRAM}",
        f"# {catalogue_text('cli.completion.zsh', program=_PROGRAM)}",
        f"_{_PROGRAM}() {{",
        "    local -a commands",
        "    commands=(",
        *(f"        {_quoted(f'{command.name}:{command.about}')}" for command in commands),
        "    )",
        "    if (( CURRENT == 2 )); then",
        "        _describe -t commands command commands",
        "        _arguments -S : \\",
        *(f"            {spec} \\" for option in own for spec in _zsh_specs(option)),
        "            '*:file:_files'",
        "        return",
        "    fi",
        "    local command=$words[2]",
        "    shift words",
        "    (( CURRENT-- ))",
        "    case $command in",
    ]
    for command in commands:
        specs = [spec for option in command.options for spec in _zsh_specs(option)]
        lines += [f"        {command.name})", "            _arguments -S : \\"]
        lines += [f"                {spec} \\" for spec in specs[:-1]] + [
            f"                {specs[-1]}",
            "            ;;",
        ]
    lines += [
        "    esac",
        "}",
        f'if [[ $funcstack[1] == _{_PROGRAM} ]]; then _{_PROGRAM} "$@"; else compdef _{_PROGRAM} {_PROGRAM}; fi',
    ]
    return "\n".join(lines) + "\n"


def _zsh_specs(option: _Option) -> Iterator[str]:
    action = f"({' '.join(option.choices)})" if option.choices else "_files" if option.takes_file else "( )"
    if not option.names:
        yield _quoted(f"*:file:{action if option.takes_file else '_files'}")
        return
    about = option.about.translate({ord(mark): f"\\{mark}" for mark in "[]:\\"})
    value = f": :{action if option.choices or option.takes_file else ' '}" if option.takes_value else ""
    for name in option.names:
        others = "" if option.repeats else f"({' '.join(option.names)})"
        yield _quoted(f"{'*' if option.repeats else others}{name}[{about}]{value}")


def _quoted(text: str) -> str:
    """Quote a word for a POSIX shell and for zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


# ---------------------------------------------------------------------- fish


def _fish(own: Sequence[_Option], commands: Sequence[_Command]) -> str:
    lines = [
        f"# {catalogue_text('cli.completion.fish', program=_PROGRAM)}",
        f"complete -c {_PROGRAM} -f",
        f"complete -c {_PROGRAM} -n __fish_use_subcommand -F",
        *_fish_lines("__fish_use_subcommand", own),
    ]
    for command in commands:
        about = _fish_quoted(command.about)
        lines.append(f"complete -c {_PROGRAM} -n __fish_use_subcommand -a {command.name} -d {about}")
    for command in commands:
        seen = f"__fish_seen_subcommand_from {command.name}"
        lines += _fish_lines(seen, command.options)
        if _has_positional(command.options):
            lines.append(f"complete -c {_PROGRAM} -n '{seen}' -F")
    return "\n".join(lines) + "\n"


def _fish_lines(condition: str, options: Sequence[_Option]) -> Iterator[str]:
    for option in options:
        if not option.names:
            continue
        names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
        value = ""
        if option.choices:
            value = f" -x -a {_fish_quoted(' '.join(option.choices))}"
        elif option.takes_value:
            value = " -r -F" if option.takes_file else " -x"
        yield f"complete -c {_PROGRAM} -n '{condition}' {names}{value} -d {_fish_quoted(option.about)}"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
