"""Debugging of a run: breakpoints, run goals, rules entered and left, and the baseline run without the grammar."""
