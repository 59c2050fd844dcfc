"""Deterministic tables: lazy, minimal, and searched for live states."""
