"""What customization has beyond the loops: several publications that share capacity (together.py)."""
