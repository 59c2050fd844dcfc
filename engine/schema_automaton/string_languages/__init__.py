"""Strings as JSON spells them: patterns, formats, lengths and lists of names."""
