"""Readers of file formats, and what a table is made of."""
