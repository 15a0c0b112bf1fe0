"""Heuristics of customization, and the conversion trees that they share."""
