"""A package with a logits processor for `generate` of transformers.

The code is that of `engine.export.runtimes`, unchanged: the guide, and its use for each row of a batch or of a beam
search.
"""

from __future__ import annotations

from typing import Final

from engine.export.runtimes import TRANSFORMERS
from engine.export.target import Artifact, Check, ExportJob
from engine.export.target_bases import (
    PackageTarget,
    check_pyproject,
    grammar_files,
    origin,
    package_name,
    pyproject,
)

_INIT: Final = '''"""A grammar for `generate` of transformers; see README.md beside this folder."""

from .transformers_generate import GrammarLogitsProcessor, GrammarStoppingCriteria, load_guide

__all__ = ["GrammarLogitsProcessor", "GrammarStoppingCriteria", "load_guide"]
'''

_README: Final = """# {folder}

A logits processor for `generate` of transformers: what is generated matches the grammar. It is made for a vocabulary
of {size:,} tokens and holds for models with that tokenizer, also where their logits are wider.

```sh
pip install .        # or put the folder {folder} on the path
```

```python
from {folder} import GrammarLogitsProcessor{criteria_import}

grammar = GrammarLogitsProcessor()
output = model.generate(**inputs, logits_processor=[grammar]{criteria}, max_new_tokens=200)
```

- The prompt is not part of the grammar: it is whatever the first call has.
- Batches, sampling, greedy and beam search work. Make a processor for each `generate`, or call `reset()` before one
  whose prompt is what the last one wrote.
- What `max_new_tokens` cuts off is a beginning of a match, not a match.
- A beam search that asks for more sequences than the grammar has texts fills up with rows at a score of -inf.
{ending}
"""

_WITH_END: Final = "- The end tokens {eos} are allowed where the text may end, and nothing is behind it.\n"
_WITHOUT_END: Final = (
    "- The vocabulary has no end token: `GrammarStoppingCriteria` stops a row where nothing may follow.\n"
)


class TransformersTarget(PackageTarget):
    """The transformers target; see `Target`."""

    name = "transformers"
    modules = TRANSFORMERS

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        folder, vocabulary = package_name(job.options.name), job.need_vocabulary()
        files, notes = grammar_files(job, folder, self.modules, _INIT)
        has_end = bool(vocabulary.eos_ids)
        readme = _README.format(
            folder=folder,
            size=vocabulary.size,
            criteria_import="" if has_end else ", GrammarStoppingCriteria",
            criteria="" if has_end else ", stopping_criteria=[GrammarStoppingCriteria(grammar)]",
            ending=(_WITH_END if has_end else _WITHOUT_END).format(eos=sorted(vocabulary.eos_ids)),
        )
        about = "A grammar for generate() of transformers"
        top = (
            ("README.md", (readme + origin(job, notes)).encode()),
            ("pyproject.toml", pyproject(folder, about, depends=("torch>=2", "transformers>=4.40"))),
        )
        return Artifact((*top, *files), notes)

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Check the artifact; see `Target`."""
        check_pyproject(artifact, package_name(job.options.name))
        return super().check(artifact, job)


TARGET = TransformersTarget()
