"""Lower bounds of assignment that need no integer program."""
