"""Serves many requests with one model."""
