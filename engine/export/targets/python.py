"""A folder of plain Python that runs the grammar: no dependency, any vocabulary, nested rules included.

The code is that of `engine.export.runtimes.guide`, unchanged; the data are the tables of the byte automata with the
tokens' bytes. It is for serving stacks without their own support for grammars.
"""

from __future__ import annotations

from typing import Final

from engine.export.target import Artifact, ExportJob
from engine.export.target_bases import PackageTarget, grammar_files, origin, package_name

_INIT: Final = '''"""A grammar that says which tokens may come next; see README.md beside this folder."""

from pathlib import Path

from .guide import ENDED, Guide, GuideError

__all__ = ["ENDED", "Guide", "GuideError", "load"]


def load() -> Guide:
    """The grammar of this package."""
    return Guide.load(Path(__file__).with_name("grammar.json"))
'''

_README: Final = """# {folder}

A grammar over a vocabulary of {size:,} tokens, in plain Python 3.10 or later, without dependencies.

```python
import {folder}

guide = {folder}.load()
state = guide.start
while state != {folder}.ENDED:
    allowed = guide.allowed(state)  # ids, in order; `guide.mask(state)` has them as bits
    token = choose(allowed)         # yours: from the model's logits
    state = guide.advance(state, token)
```

A state is a number: keep it, go back to it, or go on from it twice. `guide.is_accepting(state)` says whether the
text may end; where it may, the end tokens {eos} are allowed. A token that is not allowed gives `None`.

"""


class PythonTarget(PackageTarget):
    """The Python target; see `Target`."""

    name = "python"

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact; see `Target`."""
        folder, vocabulary = package_name(job.options.name), job.need_vocabulary()
        files, notes = grammar_files(job, folder, self.modules, _INIT)
        readme = _README.format(folder=folder, size=vocabulary.size, eos=sorted(vocabulary.eos_ids))
        return Artifact((("README.md", (readme + origin(job, notes)).encode()), *files), notes)


TARGET = PythonTarget()
