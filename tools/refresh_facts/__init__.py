"""Derive the shipped facts again from published packages, and show what differs."""
