"""Verdicts on outputs: complete, cut off, illegal at a position, looping."""
