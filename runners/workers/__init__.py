"""Fits and evaluations on processes: which is next, what a process runs, its caps, and Dask."""
