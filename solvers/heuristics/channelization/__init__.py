"""Heuristics of channelization, and the subscription problem that they share."""
