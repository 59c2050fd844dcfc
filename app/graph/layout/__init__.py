"""Compute positions of states and curves of transitions, without Qt."""
