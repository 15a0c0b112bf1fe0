"""Customization solved exactly: a recursion over sets of formats, dual ascent, cuts."""
