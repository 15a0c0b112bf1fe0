"""Heuristics, by problem."""
