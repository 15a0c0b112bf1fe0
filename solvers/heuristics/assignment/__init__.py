"""Heuristics of assignment."""
