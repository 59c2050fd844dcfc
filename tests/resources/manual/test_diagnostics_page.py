"""The manual's page of diagnostic codes is that of the catalogue, and each example yields its code."""

import pytest

from resources.manual.write_diagnostics import codes, examples, reported

WITHOUT_EXAMPLE = {
    *("export-no-regex", "export-not-context-free", "export-open", "export-recursive", "export-too-large"),
    *("gbnf-nesting-limit", "limit-exceeded", "regex-atomic", "regex-nesting-limit", "schema-too-deep"),
}
"""Codes of conversions, and of limits that no short text exceeds."""


def test_each_code_has_an_example_or_is_one_that_a_text_alone_does_not_yield():
    assert set(codes()) - set(examples()) == WITHOUT_EXAMPLE
    assert set(examples()) <= set(codes())


@pytest.mark.parametrize("code", examples())
def test_an_example_yields_its_code(code):
    assert code in {one.code for one in reported(examples()[code])}
