"""Interpret pasted text: detect its notation, unwrap requests."""
