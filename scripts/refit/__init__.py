"""Fits or scores stored points again: ``python -m scripts.refit --help``."""
