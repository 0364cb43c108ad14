"""Runs tasks on a Dask cluster, several cells at a time: ``runner=dask``, an optional extra (docs/cluster.md).

`cluster` is the side of the command, and `worker` is what a Dask worker runs.
"""
