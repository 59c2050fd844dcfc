"""The manual's page of causes is that of the catalogue, and each example yields its cause."""

import pytest

from app.dialogs.cause_dialog import manual_section
from engine.diagnosis.failures.diagnose import diagnose
from engine.diagnosis.failures.diagnosis import Cause
from engine.diagnosis.failures.rules import all_fixes
from resources.manual.write_causes import causes_page, example_case, example_texts

WITHOUT_EXAMPLE = {Cause.ENGINE_DIFFERENCE}
"""A cause that only `turnstile diagnose --engines` finds."""


@pytest.mark.parametrize("cause", Cause)
def test_a_cause_has_a_general_fix_and_an_example_that_yields_it(cause: Cause):
    general = all_fixes(cause)[0]
    assert (general.detail, general.server) == ("", "")
    assert manual_section(cause)
    case = example_case(cause)
    assert (case is None) == (cause in WITHOUT_EXAMPLE)
    if case is not None:
        assert diagnose(case).cause is cause


def test_examples_are_only_of_causes_that_no_sample_has():
    page = causes_page().split("\n")
    assert sum(line == "**Example:** paste" for line in page) == len(example_texts())
    assert sum(line.startswith("> ") for line in page) == len(set(Cause) - WITHOUT_EXAMPLE)
