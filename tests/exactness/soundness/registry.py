"""The generators of the soundness fuzzer.

A generator is one module with a function `check(rng, tally)`. It makes one grammar from the random numbers, tries
several texts on it, and reports each comparison to the tally. To add one, import its module here and name it.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.exactness.soundness import (
    completions,
    format_texts,
    gbnf_texts,
    matcher_steps,
    regex_texts,
    schema_arrays,
    schema_keywords,
    schema_objects,
    schema_references,
    schema_scalars,
)
from tests.exactness.soundness.tally import Tally

Check = Callable[[random.Random, Tally], None]

GENERATORS: dict[str, Check] = {
    "schema-keywords": schema_keywords.check,
    "schema-arrays": schema_arrays.check,
    "schema-objects": schema_objects.check,
    "schema-scalars": schema_scalars.check,
    "schema-references": schema_references.check,
    "formats": format_texts.check,
    "regex-python": regex_texts.check_python,
    "regex-ecma": regex_texts.check_ecma,
    "gbnf": gbnf_texts.check,
    "completions": completions.check,
    "matcher": matcher_steps.check,
}
"""The generators by the name that the command line and the reports use."""
