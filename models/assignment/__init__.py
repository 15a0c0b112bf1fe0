"""Subscriber assignment: subscribers to leaf brokers, interests into few filter boxes, filters nested up the tree."""
