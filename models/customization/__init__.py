"""Customization: content goes down a tree in several formats; where is it converted, and what does each link carry?"""
