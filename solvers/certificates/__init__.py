"""Certificates of lower bounds and proofs of optimality, and their checkers in exact arithmetic. No solver in here."""
