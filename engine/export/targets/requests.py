"""Request bodies and commands for llama-server, vLLM, SGLang and OpenAI, as templates to edit.

It is one folder and not four targets: the four say the same in their own syntax, and a user who chooses between servers
wants to compare them. A JSON body cannot have a comment, so the provenance is in the README beside it.

Each server gets a body with a grammar, which means the same everywhere; for a JSON Schema also one with the schema
itself, and the README explains what that server does with it. Nothing is sent: the check parses each body and walks its
grammar.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from typing import Any, Final

import msgspec

from engine.compile import CompiledGrammar, compile_grammar
from engine.export.checks import CompiledRecogniser, check_text, refused_as_mismatch, walk_side_by_side
from engine.export.provenance import comment, indented_provenance, provenance_lines, shown
from engine.export.target import (
    Artifact,
    Check,
    ExportJob,
    MismatchError,
    NotExportableError,
    OptionName,
)
from engine.export.target_bases import RulesTarget
from engine.export.targets.ebnf import TARGET as EBNF
from engine.export.targets.ebnf import ebnf
from engine.export.targets.gbnf import TARGET as GBNF
from engine.export.text.plain_grammar import has_fewer_texts, plain_grammar
from engine.export.text.print_lark import NoLarkError, print_lark, read_lark
from engine.grammar import Grammar
from engine.grammar.print_gbnf import print_gbnf
from engine.source.catalogue import catalogue_text
from engine.source.json_pointer import resolve_pointer
from engine.targets import Effect, engine_record

_MAX_TOKENS: Final = 512
_WALKS: Final = 20
"""There are up to eight bodies, and some have the same content."""
_NOTHING: Final = object()
_PROMPT: Final = "PROMPT"
_SCHEMA: Final = "\0the schema"
"""A placeholder for the schema in a body until the body is written."""
_BLANKS: Final = " \t\r\n"
_MODEL: Final = "MODEL"
_SERVERS: Final = {
    "llama-server": (
        "llama.cpp's llama-server",
        "http://localhost:8080/v1",
        "llama-server -m {model}.gguf --port 8080",
    ),
    "vllm": ("vLLM 0.12 and later", "http://localhost:8000/v1", "vllm serve {model}"),
    "sglang": (
        "SGLang",
        "http://localhost:30000/v1",
        "python -m sglang.launch_server --model-path {model} --port 30000",
    ),
    "openai": ("OpenAI", "https://api.openai.com/v1", ""),
}


class RequestsTarget(RulesTarget):
    """The target for requests; see `Target`."""

    name = "requests"
    suffix = ""
    is_folder = True

    def supported_options(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """Return the supported options; see `Target`."""
        return super().supported_options(compiled) | {"name", "model", "server_report"}

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        bodies, notes = _bodies(job)
        files = [(name, _written(body, job.compiled.source.text).encode()) for name, body in bodies.items()]
        head = comment((*provenance_lines(job, *self.supported_options(job.compiled)), *notes))
        readme = ("README.md", _readme(job, notes, bodies).encode())
        files += [
            ("client.py", _client(head).encode()),
            ("serve.sh", _serve(head, job.options.model or _MODEL).encode()),
        ]
        return Artifact((readme, *files), notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact: each body is parsed, and its grammar is compiled again and walked."""
        walks = steps = 0
        for name, content in artifact.files:
            if not name.endswith(".json"):
                continue
            checked = _check_one(job, *_carried(name, content))
            walks, steps = walks + checked.walks, steps + checked.steps
        scope = catalogue_text("export.scope.requests")
        if job.compiled.describes_json:
            scope += f" {catalogue_text('export.scope.requests_schema')}"
        return Check(catalogue_text("export.compared.fragment.requests"), walks, steps, scope)


def _bodies(job: ExportJob) -> tuple[dict[str, dict[str, Any]], tuple[str, ...]]:
    """Return the bodies by file name, and why some are missing."""
    plain = plain_grammar(job)
    notes = plain.notes
    bodies: dict[str, dict[str, Any]] = {}
    if why_not := GBNF.refusal(job):
        notes = (*notes, catalogue_text("export.note.fragment.no_llama_server", reason=why_not))
    else:
        bodies["llama-server.json"] = {**_chat(job), "grammar": _without_comments(GBNF.make(job))}
    if why_not := EBNF.refusal(job):
        notes = (*notes, catalogue_text("export.note.fragment.no_ebnf", reason=why_not))
    else:
        text = ebnf(plain.grammar)
        bodies["vllm.json"] = {**_chat(job), "structured_outputs": {"grammar": text}}
        bodies["sglang.json"] = {**_chat(job), "ebnf": text}
    bodies["openai.json"] = _openai_tool(job, plain.grammar)
    if job.compiled.describes_json:
        bodies |= _schema_bodies(job)
    return bodies, notes


def _written(body: dict[str, Any], source: str) -> str:
    """Return a body as text with the schema's original text: re-encoding would change its longer numbers."""
    text = json.dumps(body, ensure_ascii=False, indent=2) + "\n"
    before, mark, after = text.partition(json.dumps(_SCHEMA))
    line = before.rpartition("\n")[2]
    margin = line[: len(line) - len(line.lstrip())]
    return before + (source.strip(_BLANKS).replace("\n", f"\n{margin}") if mark else "") + after


def _without_comments(artifact: Artifact) -> str:
    # Not `splitlines`, which also splits at characters that may be literals in a grammar.
    lines = artifact.content.decode().split("\n")
    return "\n".join(line for line in lines if not line.startswith("#"))


def _chat(job: ExportJob) -> dict[str, Any]:
    return {
        "model": job.options.model or _MODEL,
        "messages": [{"role": "user", "content": _PROMPT}],
        "max_tokens": _MAX_TOKENS,
    }


def _openai_tool(job: ExportJob, grammar: Grammar) -> dict[str, Any]:
    definition = {"type": "grammar", "syntax": "lark", "definition": print_lark(grammar)}
    tool = {
        "type": "custom",
        "name": job.options.name,
        "description": f"Writes {job.options.name}.",
        "format": definition,
    }
    return {"model": job.options.model or _MODEL, "input": _PROMPT, "tools": [tool], "tool_choice": "required"}


def _schema_bodies(job: ExportJob) -> dict[str, dict[str, Any]]:
    formatted = {"type": "json_schema", "json_schema": {"name": job.options.name, "schema": _SCHEMA}}
    strict = {"type": "json_schema", "json_schema": {"name": job.options.name, "strict": True, "schema": _SCHEMA}}
    return {
        "llama-server.schema.json": {**_chat(job), "response_format": formatted},
        "vllm.schema.json": {**_chat(job), "structured_outputs": {"json": _SCHEMA}},
        "sglang.schema.json": {**_chat(job), "response_format": formatted},
        "openai.schema.json": {**_chat(job), "response_format": strict},
    }


def _client(head: str) -> str:
    urls = {name: url for name, (_, url, _) in _SERVERS.items()}
    return f'''{head}
"""Send one of the bodies beside this file: python client.py vllm, or python client.py vllm.schema."""

import json
import os
import pathlib
import sys

from openai import OpenAI

SERVERS = {json.dumps(urls, indent=4)}
EXTRA = ("grammar", "structured_outputs", "ebnf")  # fields that only one server knows

name = sys.argv[1]
body = json.loads(pathlib.Path(__file__).with_name(f"{{name}}.json").read_text(encoding="utf-8"))
client = OpenAI(base_url=SERVERS[name.split(".")[0]], api_key=os.environ.get("OPENAI_API_KEY", "none"))
if "tools" in body:
    answer = client.responses.create(**body)
    print(next(item.input for item in answer.output if item.type == "custom_tool_call"))
else:
    extra = {{key: body.pop(key) for key in EXTRA if key in body}}
    answer = client.chat.completions.create(**body, extra_body=extra)
    print(answer.choices[0].message.content)
'''


def _serve(head: str, model: str) -> str:
    model = shown(model)  # a line end in it would end the comment
    lines = [f"# {about}\n#   {command.format(model=model)}" for about, _, command in _SERVERS.values() if command]
    sends = [
        f"# curl {url}/chat/completions -H 'Content-Type: application/json' -d @{name}.json"
        for name, (_, url, command) in _SERVERS.items()
        if command
    ]
    return "\n".join(["#!/bin/sh", head.rstrip(), "", "# Start one of these:", *lines, "# and send:", *sends, ""])


def _readme(job: ExportJob, notes: tuple[str, ...], bodies: Container[str]) -> str:
    is_schema = job.compiled.describes_json
    lines = [
        f"# Requests for `{job.options.name}`",
        "",
        f"Replace `{_PROMPT}` and `{_MODEL}`, start a server (`serve.sh` has the commands), and send a body, as",
        "`client.py` does.",
        "",
        "| server | body with the grammar |" + (" body with the schema |" if is_schema else ""),
        "|---|---|" + ("---|" if is_schema else ""),
    ]
    for name, (about, _, _) in _SERVERS.items():
        own = f"`{name}.json`" if f"{name}.json" in bodies else "none"
        lines.append(f"| {about} | {own} |" + (f" `{name}.schema.json` |" if is_schema else ""))
    lines += [
        "",
        "The bodies with a grammar mean the same on every server. OpenAI takes a grammar only as the format of a",
        "custom tool, in the Responses API, and may refuse a large one.",
        *[f"- {note}" for note in notes],
    ]
    if is_schema:
        schema = json.loads(job.compiled.source.text)
        lines += ["", "## What a server makes of the schema itself", ""]
        for name, (about, _, _) in _SERVERS.items():
            differences = schema_notes(name, schema) or ("Nothing in this schema is known to be read otherwise.",)
            lines += [f"**{about}** (`{name}.schema.json`)", "", *[f"- {one}" for one in differences], ""]
    lines += _report_section(job)
    source = indented_provenance(job, *TARGET.supported_options(job.compiled))
    return "\n".join([*lines, "", "## Where this comes from", "", source, ""])


# ---------------------------------------------------------------------- what a server was seen to do


def _report_section(job: ExportJob) -> list[str]:
    """Return a section about a check of a server with this grammar; empty without one.

    Raises:
        NotExportableError: the check was made with another grammar.
    """
    report = job.options.server_report
    if report is None:
        return []
    schema = json.loads(job.compiled.source.text) if job.compiled.describes_json else None
    for one in report.keywords:
        if one.pointer and resolve_pointer(schema, one.pointer, _NOTHING) is _NOTHING:
            raise NotExportableError("errors.export.requests.other_report", pointer=one.pointer)
    found = [f"- {shown(one.pointer or one.keyword or 'The regex')}: {shown(one.note)}." for one in report.keywords]
    none = [] if found else ["It was not asked about parts of this grammar."]
    return ["", f"## What {report} does, by `turnstile probe`", "", shown(report.sentence), "", *found, *none]


# ---------------------------------------------------------------------- treatment of schemas

_SENTENCES: Final = {
    Effect.DROPS: "It does not enforce {keywords}, and does not say so.",
    Effect.REFUSES: "It refuses {keywords}.",
    Effect.APPROXIMATES: "It reads {keywords} otherwise than the standard.",
}


def schema_notes(server: str, schema: Any) -> tuple[str, ...]:
    """Describe where a server's treatment of a schema differs from the standard, a sentence each.

    Args:
        server: `llama-server`, `vllm`, `sglang` or `openai`.
        schema: as JSON data.
    """
    if server == "vllm":
        return tuple(_vllm_notes(schema))
    if server == "sglang":  # what it does not refuse, xgrammar treats in its way
        return (*_notes(server, schema), *_notes("xgrammar", schema, known=_refused(server, schema)))
    return tuple(_notes("llama.cpp" if server == "llama-server" else server, schema))


def _notes(engine: str, schema: Any, known: Sequence[str] = ()) -> Iterator[str]:
    """Yield a sentence for each note; `known` are keywords that another sentence is about."""
    found: dict[str, dict[str, None]] = {}
    for treatment, keywords in engine_record(engine).found(schema):
        left = [keyword for keyword in keywords if treatment.note or keyword not in known]
        if left or not keywords:
            found.setdefault(treatment.note or _SENTENCES[treatment.effect], {}).update(dict.fromkeys(left))
    return (sentence.format(keywords=_listed(list(keywords))) for sentence, keywords in found.items())


def _refused(engine: str, schema: Any) -> list[str]:
    """Return the keywords that an engine refuses, each once."""
    found = engine_record(engine).found(schema)
    return list(
        dict.fromkeys(keyword for one, keywords in found if one.effect is Effect.REFUSES for keyword in keywords)
    )


def _vllm_notes(schema: Any) -> Iterator[str]:
    not_for_xgrammar, refused = _refused("vllm", schema), _refused("llguidance", schema)
    if not not_for_xgrammar:
        yield from _notes("xgrammar", schema)
        return
    yield f"With xgrammar alone it refuses {_listed(not_for_xgrammar)}."
    others = [one for one, _ in engine_record("vllm").found(schema) if one.effect is not Effect.REFUSES]
    if others:
        yield from (one.note for one in others)
    elif refused:
        yield f"Its automatic backend then uses llguidance, which refuses {_listed(refused)}: so does the server."
    else:
        yield "Its automatic backend then uses llguidance."


def _listed(keywords: Sequence[str]) -> str:
    quoted = [f"`{keyword}`" for keyword in keywords]
    return " and ".join(filter(None, (", ".join(quoted[:-1]), *quoted[-1:])))


# ---------------------------------------------------------------------- read back


def _carried(name: str, content: bytes) -> tuple[str, str]:
    """Return the kind of grammar in a body, gbnf, lark or json_schema; and the grammar's text."""
    try:
        body = json.loads(content)
    except ValueError as error:
        raise MismatchError("errors.export.requests.no_json", name=name, reason=str(error)) from error
    outputs = body.get("structured_outputs", {})
    found = {
        "gbnf": body.get("grammar") or body.get("ebnf") or outputs.get("grammar"),
        "lark": body.get("tools", [{}])[0].get("format", {}).get("definition"),
        "json_schema": _inside(content, "structured_outputs", "json")
        or _inside(content, "response_format", "json_schema", "schema"),
    }
    kinds = [(kind, value) for kind, value in found.items() if value is not None]
    if len(kinds) != 1:
        raise MismatchError("errors.export.requests.several_grammars", name=name, count=len(kinds))
    return kinds[0]


def _inside(content: bytes, *keys: str) -> str | None:
    """Return the original text of a value in a body; None if there is none."""
    for key in keys:
        found = msgspec.json.decode(content, type=dict[str, msgspec.Raw]).get(key)
        if found is None:
            return None
        content = bytes(found)
    return content.decode()


def _check_one(job: ExportJob, kind: str, carried: str) -> Check:
    if kind == "json_schema":
        options = job.compiled.options
        with refused_as_mismatch():
            again = compile_grammar("json_schema", carried, options, cancel=job.cancel)
        walks, steps = walk_side_by_side(job, CompiledRecogniser(job.compiled), CompiledRecogniser(again), walks=_WALKS)
        return Check("", walks, steps)
    try:
        text = print_gbnf(read_lark(carried)) if kind == "lark" else carried
    except NoLarkError as error:
        raise MismatchError("errors.export.requests.unreadable_lark", reason=str(error)) from error
    return check_text(job, "gbnf", text, "", fewer=has_fewer_texts(job), walks=_WALKS)


TARGET = RequestsTarget()
