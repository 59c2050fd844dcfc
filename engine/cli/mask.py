"""`turnstile mask`: the tokens that may come next, and those of other engines and of servers beside them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing

from engine.cli.arguments import add_grammar, add_vocabulary, as_text
from engine.cli.explain import MOST_SHOWN, Analysis
from engine.cli.inputs import compile_argument, load_vocabulary
from engine.cli.output import MisuseError, ProgressLine, show
from engine.compile import CompiledGrammar
from engine.peers.adapter import GreedyTokenizer
from engine.peers.registry import UnknownPeerError, find_peers
from engine.peers.run_masks import EngineMasks, MaskParting, OwnMasks, PeerMasks, RunMask, ServerMasks, parting
from engine.servers import ServerClient, identify
from engine.servers.keys import KEY_VARIABLE, key_of
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

_Compared = tuple[EngineMasks, RunMask, MaskParting]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    add_grammar(parser)
    parser.add_argument("--text", type=as_text, default="")
    add_vocabulary(parser, required=True)
    parser.add_argument("--engine", action="append", default=[], metavar="NAME")
    parser.add_argument("--server", action="append", default=[], metavar="URL")
    parser.add_argument("--key-env", default=KEY_VARIABLE, metavar="NAME")
    parser.add_argument("--json", action="store_true")


def run(arguments: argparse.Namespace) -> int:
    """Print the allowed tokens, and the masks of other engines."""
    grammar = compile_argument(arguments)
    with ProgressLine() as cancel, ExitStack() as stack:
        vocabulary = load_vocabulary(arguments, cancel)
        analysis = Analysis(grammar, vocabulary, arguments.text)
        found = analysis.mask(as_json=arguments.json)
        others = list(_others(arguments, grammar.source.text, vocabulary, stack, cancel))
        if others:
            compared = _compared(others, grammar, vocabulary, arguments.text)
            if isinstance(found, dict):
                found["engines"] = [_as_data(*one) for one in compared]
            else:
                found += [line for one in compared for line in _lines(*one, analysis)]
    show(found)
    return 0


def _others(
    arguments: argparse.Namespace, source: str, vocabulary: Vocabulary, stack: ExitStack, cancel: CancelToken
) -> Iterator[EngineMasks]:
    """Yield the engines and servers of the command line; `stack` ends them."""
    for name in arguments.engine:
        try:
            peer = find_peers([name])[-1]
        except UnknownPeerError as error:
            raise MisuseError.of(error) from error
        masks = PeerMasks(peer, arguments.notation, source, vocabulary)
        stack.enter_context(closing(masks))
        stack.enter_context(masks.cancelled_by(cancel))
        yield masks
    for address in arguments.server:
        key = key_of(address, variable=arguments.key_env)
        client = stack.enter_context(ServerClient(address, key=key, cancel=cancel))
        yield ServerMasks(client, identify(client), arguments.notation, source, vocabulary)


def _compared(
    others: Sequence[EngineMasks], grammar: CompiledGrammar, vocabulary: Vocabulary, text: str
) -> list[_Compared]:
    ids = GreedyTokenizer(vocabulary).spell(text.encode())
    if ids is None:
        raise MisuseError("cli.mask.no_spelling")
    (own,) = OwnMasks(grammar, vocabulary).along(ids, [len(ids)]).values()
    found = []
    for engine in others:
        (mask,) = engine.along(ids, [len(ids)]).values()
        found.append((engine, mask, parting(own, mask)))
    return found


def _as_data(engine: EngineMasks, mask: RunMask, parted: MaskParting) -> dict[str, object]:
    return {
        "name": engine.name,
        "version": engine.version or None,
        "ids": mask.ids,
        "complete": not mask.reason,
        "reason": mask.reason or None,
        "gained": list(parted.gained),
        "lost": list(parted.lost),
    }


def _lines(engine: EngineMasks, mask: RunMask, parted: MaskParting, analysis: Analysis) -> Iterator[str]:
    name = " ".join(part for part in (engine.name, engine.version) if part)
    if mask.reason and not mask.ids:
        yield catalogue_text("cli.mask.engine.absent", name=name, reason=mask.reason)
    elif mask.reason:
        yield catalogue_text("cli.mask.engine.known", name=name, allowed=len(mask.ids), reason=mask.reason)
    elif parted:
        yield catalogue_text("cli.mask.engine.differs", name=name, allowed=len(mask.ids))
    else:
        yield catalogue_text("cli.mask.engine.same", name=name)
    for key, ids in (("gained", parted.gained), ("lost", parted.lost)):
        if ids:
            tokens = ", ".join(analysis.name(token_id) for token_id in ids[:MOST_SHOWN])
            shown = f"{tokens}, …" if len(ids) > MOST_SHOWN else tokens
            yield "  " + catalogue_text(f"cli.mask.engine.{key}", count=len(ids), tokens=shown)
