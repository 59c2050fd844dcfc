"""Test strings of a grammar: suggestions, witnesses, coverage."""
