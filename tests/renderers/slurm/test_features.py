"""What a version of Slurm has."""

from __future__ import annotations

import pytest

from renderers.slurm.features import Feature, has, nodes_are_named_by_exclusion, parse


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("24.05", (24, 5)),
        ("24.05.3", (24, 5)),
        ("slurm 22-05-8-1", (22, 5)),
        ("26.05.3-1", (26, 5)),
        ("25", None),
        ("", None),
        (None, None),
    ],
)
def test_a_version_is_its_year_and_month(text: str | None, version: tuple[int, int] | None) -> None:
    assert parse(text) == version


@pytest.mark.parametrize(
    ("feature", "before", "since"),
    [
        (Feature.GPUS_PER_NODE, (18, 8), (19, 5)),
        (Feature.HET_JOBS, (19, 5), (20, 2)),
        (Feature.BLOCK_TOPOLOGY, (23, 2), (23, 11)),
        (Feature.NODELIST_IN_BLOCKS, (25, 5), (25, 11)),
    ],
)
def test_a_feature_begins_with_its_version(feature: Feature, before: tuple[int, int], since: tuple[int, int]) -> None:
    assert not has(before, feature)
    assert has(since, feature)


def test_a_cluster_that_says_no_version_has_what_the_oldest_supported_has() -> None:
    assert has(None, Feature.HET_JOBS)
    assert not has(None, Feature.BLOCK_TOPOLOGY)


@pytest.mark.parametrize(
    ("version", "blocks", "expected"),
    [
        ((23, 2), True, False),
        ((23, 11), True, True),
        ((25, 5), True, True),
        ((25, 11), True, False),
        (None, True, True),
        ((24, 5), False, False),
        (None, False, False),
    ],
)
def test_nodes_are_left_out_only_where_blocks_make_naming_them_unsafe(
    version: tuple[int, int] | None, blocks: bool, expected: bool
) -> None:
    assert nodes_are_named_by_exclusion(version, blocks=blocks) is expected
