"""Runs tasks on a Dask cluster, several cells at a time: ``runner=dask``, an optional extra (docs/cluster.md).

`cluster` is the side of the command, `cells` keeps several cells in flight, and `worker` is what a Dask worker runs.
"""
