"""An installable plugin for vLLM, V1: a batch-level logits processor that a request selects by name.

Sources: vLLM's own documents on custom logits processors, the interfaces in
`vllm/v1/sample/logits_processor` and `vllm/v1/worker/gpu/sample/logits_processor`,
and the persistent batch in `vllm/v1/worker/gpu_input_batch.py`; the placeholders of
asynchronous scheduling are its issue 52461. The code is that of `engine.export.runtimes`, unchanged.

Rejected: the grammar's name in the code. All modules are the same in every plugin, and the grammar's name is that of
the package, so two plugins can coexist.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

from engine.export.runtimes import VLLM
from engine.export.target import Artifact, Check, ExportJob, MismatchError
from engine.export.target_bases import (
    PackageTarget,
    check_pyproject,
    grammar_files,
    origin,
    package_name,
    pyproject,
)
from engine.source.catalogue import catalogue_text

ENTRY_POINTS: Final = "vllm.logits_processors"
_KEY: Final = "turnstile_grammar"
_INIT: Final = '"""A grammar that requests to vLLM can ask for; see README.md beside this folder."""\n'

_README: Final = """# {folder}

A logits processor for vLLM (V1): the output of a request that asks for the grammar `{name}` matches it. It is made for
a vocabulary of {size:,} tokens, and holds for models with that tokenizer.

## Install

```sh
pip install .
vllm serve MODEL --logits-processors {folder}.vllm_plugin:GrammarLogitsProcessor
```

Once installed, every server of this environment loads it as a plugin (`{group}`), and does
nothing with it until a request asks. Name it at the start all the same, as above: only then vLLM's second model runner
(the default of recent releases) refuses a request that asks for what cannot be given, and only then the first one
hands over the ids that were written last under asynchronous scheduling (otherwise start it with
`--no-async-scheduling`). Speculative decoding works on the second runner; on the first, vLLM takes no processors along
with it.

## Ask for it

The request body is in `request.json`; what matters is

```json
"vllm_xargs": {{"{key}": "{name}"}}
```

In Python, offline:

```python
from vllm import LLM, SamplingParams
from {folder}.vllm_plugin import GrammarLogitsProcessor

llm = LLM(model="MODEL", logits_processors=[GrammarLogitsProcessor])  # the class, or its name as above
llm.generate("…", SamplingParams(max_tokens=200, extra_args={{"{key}": "{name}"}}))
```

With the OpenAI client, `extra_body={{"vllm_xargs": {{"{key}": "{name}"}}}}`.

- A request without the key is left alone. An unknown name is refused, as is the key along with `structured_outputs`,
  `min_tokens`, `ignore_eos`, `allowed_token_ids` or `bad_words`, which could leave no token at all.
- The end tokens {eos} are allowed where the text may end. What `max_tokens` cuts off is a beginning of a match.
- `{folder}.vllm_request:GrammarRequestLogitsProcessor` is the same for one request at a time, by the adapter of the
  first runner. Two that are loaded at once mask twice, which costs time and changes nothing.

"""


class VllmTarget(PackageTarget):
    """The vLLM target; see `Target`."""

    name = "vllm"
    modules = VLLM

    def refusal(self, job: ExportJob) -> str:
        """Return why a grammar does not fit; see `Target`."""
        has_no_end = job.vocabulary is not None and not job.vocabulary.eos_ids
        no_end = catalogue_text("export.refusal.fragment.vllm_no_end") if has_no_end else ""
        return super().refusal(job) or no_end

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        folder, vocabulary = package_name(job.options.name), job.need_vocabulary()
        name = folder.removeprefix("turnstile_")
        files, notes = grammar_files(job, folder, self.modules, _INIT)
        readme = _README.format(
            folder=folder,
            name=name,
            size=vocabulary.size,
            eos=sorted(vocabulary.eos_ids),
            group=ENTRY_POINTS,
            key=_KEY,
        )
        body = {
            "model": "MODEL",
            "messages": [{"role": "user", "content": "PROMPT"}],
            "max_tokens": 200,
            "vllm_xargs": {_KEY: name},
        }
        entry = f'\n[project.entry-points."{ENTRY_POINTS}"]\n{folder} = "{folder}.vllm_plugin:GrammarLogitsProcessor"\n'
        top = (
            ("README.md", (readme + origin(job, notes)).encode()),
            ("pyproject.toml", pyproject(folder, "A grammar that requests to vLLM can ask for", entry)),
            ("request.json", (json.dumps(body, indent=2) + "\n").encode()),
        )
        return Artifact((*top, *files), notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact; see `Target`."""
        folder = package_name(job.options.name)
        project = check_pyproject(artifact, folder)
        entries = project["project"]["entry-points"][ENTRY_POINTS]
        asked = json.loads(artifact.file("request.json"))["vllm_xargs"]
        if list(entries) != [folder] or asked != {_KEY: folder.removeprefix("turnstile_")}:
            raise MismatchError("errors.export.vllm.not_named")
        return replace(super().check(artifact, job), scope=catalogue_text("export.scope.vllm"))


TARGET = VllmTarget()
