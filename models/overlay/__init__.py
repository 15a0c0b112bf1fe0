"""Overlay: users choose brokers, brokers are wired by trees; access links and core links are paid by traffic."""
