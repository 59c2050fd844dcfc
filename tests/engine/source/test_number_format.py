"""Numbers as they are written: never a false zero, never a false whole, never a unit that does not fit."""

import pytest

from engine.source.number_format import duration, percent, percent_brief, percent_column

SHARES = [10.0**-power for power in range(1, 12)]


@pytest.mark.parametrize("write", [percent, percent_brief, percent_column])
def test_only_zero_is_written_as_zero_and_only_one_as_a_hundred(write):
    for p in SHARES:
        assert write(p) not in (write(0.0), write(1.0))
        assert write(1 - p) not in (write(0.0), write(1.0))
    assert float(write(0.0).rstrip("%")) == 0
    assert float(write(1.0).rstrip("%")) == 100


@pytest.mark.parametrize("write", [percent, percent_brief, percent_column])
def test_what_lies_a_rounding_error_outside_is_taken_for_the_end(write):
    assert (write(-1e-17), write(1 + 1e-12)) == (write(0.0), write(1.0))


def test_a_brief_one_is_short():
    assert max(len(percent_brief(p)) for p in (*SHARES, *(1 - p for p in SHARES), 0.0, 0.5, 1.0)) <= len(">99.9%")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.0 µs"),
        (3.4e-6, "3.4 µs"),
        (9.96e-6, "10 µs"),
        (387e-6, "387 µs"),
        (999.6e-6, "1.0 ms"),
        (0.0099951, "10 ms"),
        (0.38735, "387 ms"),
        (0.99996, "1.0 s"),
        (1.1609, "1.2 s"),
        (59.7, "1 min 0 s"),
        (3725.0, "62 min 5 s"),
    ],
)
def test_a_duration_has_the_unit_that_fits(seconds, text):
    assert duration(seconds) == text
