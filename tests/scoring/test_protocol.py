"""The record of a protocol: what it refuses, and the words that turn one into another."""

import json
from dataclasses import replace

import pytest
from fits import PROTOCOL

from ufs_bench.metrics.protocol import Protocol


@pytest.mark.parametrize(
    "change",
    [
        {"sizes": ()}, {"sizes": (0,)}, {"restarts": 0}, {"seed": -1}, {"scaling": "max"}, {"nmi": "mean"},
        {"max_iter": 1.5}, {"sizes_for": {"usps": [0]}}, {"sizes_for": {"usps": []}}, {"coarse": 1},
        {"scaling_for": {"rufs": "max"}}, {"scaling_for": "raw"}, {"starts": "greedy"}, {"replicates": 0},
        {"clusters": 3},
    ],
)  # fmt: skip
def test_a_protocol_refuses_what_it_cannot_mean(change):
    with pytest.raises(ValueError, match=f"protocol.{next(iter(change))}"):
        replace(PROTOCOL, **change)


def test_what_is_no_protocol_is_a_value_error():
    for value in (None, [], 1, "x", {}, {"name": None}, {"name": "x"}, {"sizes": 3}, {"sizes_for": {}}):
        with pytest.raises(ValueError):
            Protocol.from_json(json.dumps(value))
    with pytest.raises(ValueError):
        Protocol.from_json("")


def test_the_overrides_of_a_protocol_make_the_other_one():
    other = replace(PROTOCOL, seed=7, sizes=(4, 9), grid_values=(0.5, 2.0), sizes_for={"blobs": [3]})
    assert PROTOCOL.differences(PROTOCOL) == {}
    assert PROTOCOL.differences(other)["seed"] == (0, 7) and PROTOCOL.differences(other)["grid_values"][0] is None
    assert PROTOCOL.overrides(other) == [
        "+protocol.grid_values=[0.5,2.0]", "protocol.seed=7", "protocol.sizes=[4,9]", "+protocol.sizes_for={blobs:[3]}",
    ]  # fmt: skip
    spread = replace(PROTOCOL, starts="kmeans++", replicates=3)
    assert PROTOCOL.overrides(spread) == ["+protocol.replicates=3", "+protocol.starts=kmeans++"]
    assert replace(spread, starts=None, replicates=None) == PROTOCOL  # what its overrides back to the usual compose
    back = other.overrides(PROTOCOL)
    assert back[:2] == ["protocol.grid_values=null", "protocol.sizes_for=null"] and "protocol.seed=0" in back
