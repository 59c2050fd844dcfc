"""Matching of states across drawings, folding of chains, paths and regions."""
