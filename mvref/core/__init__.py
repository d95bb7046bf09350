"""Foundations that all methods share."""
