"""Scores of a selection: clustering scores, the K-means that they rest on, and the summary of a results frame."""
