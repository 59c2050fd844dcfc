"""Arithmetic of decimal prefixes: which magnitudes a prefix of digits can still become.

A magnitude other than zero is written 0.d1d2d3… × 10^point with d1 ≠ 0: its
*significand* and its *point*. The digits of a number's text determine a prefix of the
significand; the decimal point and the exponent determine the point. A bound is compared
in the same form, point first and digits next, so no value has to be kept. A multiple of
m is a number that is an integer at the scale 10^s, s being the decimals of m, and 0
modulo m·10^s there. Since multiplication by ten keeps a multiple a multiple, the
exponents that a given mantissa may take are an interval.

Several congruences to avoid (`not` over `multipleOf`) need no search: a system
of c congruences that covers 2^c consecutive integers covers all of them
(Crittenden and Vanden Eynden, *Any n arithmetic progressions covering the first
2^n integers cover all integers*, Proc. AMS 24, 1970).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, gcd, lcm
from typing import NamedTuple, TypeAlias

from engine.source import checkpoint

Interval: TypeAlias = tuple[int | None, int | None]
"""Inclusive bounds of integers; None for no bound."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound above zero.

    Attributes:
        value: the bound.
        strict: whether the value itself is excluded.
        digits: its significand, without trailing zeros.
        point: its point.
    """

    value: Fraction
    strict: bool
    digits: tuple[int, ...]
    point: int

    @classmethod
    def of(cls, value: Fraction, *, strict: bool) -> Bound:
        """Return the bound at a value above zero that has a finite decimal form."""
        scale = decimals(value)
        text = str(value.numerator * 10**scale // value.denominator)
        return cls(value, strict, tuple(map(int, text.rstrip("0"))), len(text) - scale)

    def compare(self, index: int, digit: int) -> int:
        """Compare a digit with the bound's own at an index of the significand: -1, 0 or 1."""
        own = self.digits[index] if index < len(self.digits) else 0
        return (digit > own) - (digit < own)

    def prefix(self, length: int) -> int:
        """Return the first digits of the significand, as one number."""
        shown = self.digits[:length]
        return int("".join(map(str, shown)) or "0") * _power(length - len(shown))


def decimals(value: Fraction) -> int:
    """Return the number of decimals of a finite decimal fraction."""
    return max(valuation(value.denominator, 2), valuation(value.denominator, 5))


def plain_digits(value: Fraction) -> str:
    """Return a finite decimal fraction as its sign and digits, with no exponent and no needless zero."""
    scale = decimals(value)
    digits = str(abs(value.numerator) * 10**scale // value.denominator).rjust(scale + 1, "0")
    whole = len(digits) - scale
    return f"{'-' if value < 0 else ''}{digits[:whole]}{'.' if scale else ''}{digits[whole:]}"


def _power(exponent: int) -> int:
    return int(10**exponent)  # mypy's type would include floats, for negative exponents; there are none here


def valuation(number: int, prime: int) -> int:
    """Return how often a prime divides a number other than zero."""
    count = 0
    while number % prime == 0:
        number //= prime
        count += 1
    return count


class Prefix(NamedTuple):
    """The known prefix of a significand.

    Attributes:
        length: the number of digits.
        zeros: the number of trailing zeros among them.
        residue: the digits before those zeros, as a number, modulo `Magnitudes.modulus`.
        to_lower: how the digits compare with those of the lower bound: -1, 0 (equal so far) or 1.
        to_upper: likewise for the upper bound.
    """

    length: int
    zeros: int
    residue: int
    to_lower: int
    to_upper: int


@dataclass(frozen=True)
class Magnitudes:
    """A set of positive decimal fractions.

    Attributes:
        lower: the lower bound; None for zero.
        upper: the upper bound, or None.
        multiple: the divisor of every member, or None.
        avoided: the divisors of no member.
    """

    lower: Bound | None
    upper: Bound | None
    multiple: Fraction | None
    avoided: tuple[Fraction, ...]

    @cached_property
    def scale(self) -> int:
        """Return the most decimals of the numbers that define this set."""
        values = [*self.avoided]
        if self.multiple is not None:
            values.append(self.multiple)
        else:
            values += [bound.value for bound in (self.lower, self.upper) if bound is not None]
        return max(map(decimals, values), default=0)

    def at_scale(self, value: Fraction) -> int:
        """Return a divisor as an integer at the scale."""
        return value.numerator * _power(self.scale) // value.denominator

    @cached_property
    def modulus(self) -> int:
        """Return a modulus whose residues determine every multiple."""
        return lcm(*(self.at_scale(m) for m in ([self.multiple] if self.multiple else []) + [*self.avoided]))

    @cached_property
    def fineness(self) -> int:
        """Return the decimals beyond the scale at which any open interval avoids every divisor somewhere."""
        return 1 + len(str(1 << len(self.avoided)))

    # ------------------------------------------------------------------ complete mantissas

    def exponents(self, prefix: Prefix, point: int) -> Interval | None:
        """Return the powers of ten that make the digits, taken as the whole significand at `point`, a member."""
        low: int | None = None
        high: int | None = None
        if (lower := self.lower) is not None:
            equal = prefix.to_lower == 0 and prefix.length >= len(lower.digits)
            fits = prefix.to_lower > 0 or (equal and not lower.strict)
            low = lower.point - point + (not fits)
        if (upper := self.upper) is not None:
            whole = prefix.length >= len(upper.digits)
            fits = prefix.to_upper < 0 or (prefix.to_upper == 0 and not (whole and upper.strict))
            high = upper.point - point - (not fits)
        last = point - prefix.length + prefix.zeros + self.scale  # the position of the last digit other than zero
        if self.multiple is not None:
            shift = _zeros_needed(prefix.residue, self.at_scale(self.multiple))
            if shift is None:
                return None
            low = shift - last if low is None else max(low, shift - last)
        for divisor in self.avoided:
            shift = _zeros_needed(prefix.residue, self.at_scale(divisor))
            if shift is not None:
                high = shift - last - 1 if high is None else min(high, shift - last - 1)
        return None if low is not None and high is not None and low > high else (low, high)

    # ------------------------------------------------------------------ prefixes

    def points(self, prefix: Prefix) -> tuple[int, int]:
        """Return the range of points to try to see whether the prefix can become a member, with any exponent."""
        upper, lower = self.upper, self.lower
        margin = self.modulus.bit_length() // 3 + 2 * self.fineness + 1
        high = upper.point if upper else max(prefix.length, lower.point if lower else 0) + margin
        if self.multiple is None:
            return (lower.point if lower else min(high - 2, prefix.length - self.scale - 1)), high
        low = prefix.length - prefix.zeros - self.scale
        return (max(low, lower.point) if lower else low), high

    def length(self, prefix: Prefix, point: int) -> int:
        """Return a number of digits that suffices to write a member with that prefix and point, if there is one."""
        if self.multiple is not None:
            return max(prefix.length, point + self.scale)
        if prefix.length - point <= self.scale:
            return point + self.scale + self.fineness
        return prefix.length + 1

    def meets(self, prefix: Prefix, point: int) -> bool:
        """Return whether a member has that point and a significand that begins with the prefix."""
        checkpoint(8 + self.modulus.bit_length() // 64)
        lower, upper = self.lower, self.upper
        at_lower = lower is not None and point == lower.point
        at_upper = upper is not None and point == upper.point
        if (lower is not None and point < lower.point) or (at_lower and prefix.to_lower < 0):
            return False
        if (upper is not None and point > upper.point) or (at_upper and prefix.to_upper > 0):
            return False
        scale = self.scale
        if self.multiple is None:
            scale = max(scale, prefix.length - point) + self.fineness
        free = point - prefix.length + scale
        tight_lower = lower if at_lower and prefix.to_lower == 0 else None
        tight_upper = upper if at_upper and prefix.to_upper == 0 else None
        if free < 0:
            # At this scale the prefix must end in zeros, and nothing may follow it.
            interval = self.exponents(prefix, point) if prefix.zeros >= -free else None
            return interval is not None and _within(0, interval)
        least, most = 0, 10**free - 1
        if tight_lower is not None:
            rest = tight_lower.value * 10**scale - tight_lower.prefix(prefix.length) * 10**free
            least = max(least, floor(rest) + 1 if tight_lower.strict else ceil(rest))
        if tight_upper is not None:
            rest = tight_upper.value * 10**scale - tight_upper.prefix(prefix.length) * 10**free
            most = min(most, ceil(rest) - 1 if tight_upper.strict else floor(rest))
        return any(True for _ in self._endings(prefix, free, scale, least, most))

    def _endings(self, prefix: Prefix, free: int, scale: int, least: int, most: int) -> Iterator[int]:
        """Yield the numbers from `least` to `most` that make a member if written in the `free` positions."""
        known = prefix.zeros + free
        step = 1
        first = least
        if self.multiple is not None:
            step = self.at_scale(self.multiple)
            first += -(prefix.residue * 10**known + least) % step
        finer = 10 ** (scale - self.scale)
        avoided: list[tuple[int, int]] = []
        if known >= scale - self.scale:  # otherwise the digits are finer than any multiple
            for divisor in map(self.at_scale, self.avoided):
                residue = prefix.residue * 10 ** (known - (scale - self.scale)) % divisor * finer
                avoided.append((residue, divisor * finer))
        last = min(most, first + step * ((1 << len(self.avoided)) - 1))
        for ending in range(first, last + 1, step):
            checkpoint(1 + (len(avoided) * (ending.bit_length() + 64)) // 256)
            if all((residue + ending) % divisor for residue, divisor in avoided):
                yield ending

    def least(self) -> Fraction | None:
        """Return a small member; None if there is none."""
        scale = self.scale
        if self.multiple is not None:
            step = self.multiple
        else:
            # Fine enough for a member below an upper bound as well.
            scale = max(scale, 1 - self.upper.point if self.upper else 0) + self.fineness
            step = Fraction(1, 10**scale)
        lower, upper = self.lower, self.upper
        number = 1
        if lower is not None:
            ratio = lower.value / step
            number = max(1, floor(ratio) + 1 if lower.strict else ceil(ratio))
        for candidate in range(number, number + (1 << len(self.avoided))):
            value = candidate * step
            checkpoint(4 + len(self.avoided))
            if upper is not None and (value > upper.value or (upper.strict and value == upper.value)):
                return None
            if all((value / divisor).denominator != 1 for divisor in self.avoided):
                return value
        return None


def _zeros_needed(residue: int, divisor: int) -> int | None:
    """Return how many zeros make a number of that residue a multiple; None if none do."""
    checkpoint(1 + divisor.bit_length() // 64)
    missing = divisor // gcd(residue, divisor)
    # Each zero contributes one factor two and one factor five, and nothing else.
    twos, fives = valuation(missing, 2), valuation(missing, 5)
    return max(twos, fives) if missing == 2**twos * 5**fives else None


def _within(number: int, interval: Interval) -> bool:
    low, high = interval
    return (low is None or low <= number) and (high is None or number <= high)
