"""Schemas of two to four keywords of every kind, in every draft."""

from __future__ import annotations

import random

from tests.exactness.soundness.json_values import NAMES
from tests.exactness.soundness.schema_making import EVERY, Maker, choose_draft, of_draft, with_draft
from tests.exactness.soundness.schema_trial import check_schema
from tests.exactness.soundness.tally import Tally


def check(rng: random.Random, tally: Tally) -> None:
    """Make one schema of any keywords and try texts on it."""
    draft = choose_draft(rng)
    names = rng.sample(NAMES, 3)
    schema = Maker(rng, draft, of_draft(EVERY, draft), names).schema(rng.randint(1, 3))
    check_schema(rng, tally, with_draft(schema, draft), draft, names)
