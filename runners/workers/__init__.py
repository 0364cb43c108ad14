"""The fits of a cell: what one is, its caps, its data, and the worker processes that run it."""
