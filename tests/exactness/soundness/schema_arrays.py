"""Schemas about arrays: prefixes, `contains` with counts, `uniqueItems` and `unevaluatedItems`, among combinations."""

from __future__ import annotations

import random

from tests.exactness.soundness.json_values import NAMES
from tests.exactness.soundness.schema_making import ANY, ARRAY, OBJECT, Maker, choose_draft, of_draft, with_draft
from tests.exactness.soundness.schema_trial import check_schema
from tests.exactness.soundness.tally import Tally

_KEYWORDS = {**ANY, **ARRAY, "dependentSchemas": OBJECT["dependentSchemas"]}


def check(rng: random.Random, tally: Tally) -> None:
    """Make one schema of an array and try texts on it."""
    draft = choose_draft(rng)
    names = rng.sample(NAMES, 2)
    make = Maker(rng, draft, of_draft(_KEYWORDS, draft), names, value_depth=1)
    schema = make.schema(rng.randint(1, 3))
    if isinstance(schema, dict) and rng.random() < 0.7:
        schema = {"type": "array", **schema}
    check_schema(rng, tally, with_draft(schema, draft), draft, names, arrays=True)
