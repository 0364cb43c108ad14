"""Stored results, and what they belong to: the files of a cell, the tidy frame, shipped studies, and identities."""
