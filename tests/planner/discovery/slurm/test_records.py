"""The grammar of what scontrol prints."""

from __future__ import annotations

import pytest

from planner.discovery.slurm.records import (
    Gres,
    gres,
    mebibytes,
    moment,
    nodes,
    records,
    rest_of,
    seconds,
    stated,
    tres,
)


def test_free_text_at_the_end_cannot_change_a_field_before_it() -> None:
    line = "NodeName=gpu3 State=IDLE+DRAIN Reason=fan = broken State=IDLE NodeName=evil [root@2026-11-30T21:19:18]"
    (record,) = records(line)
    assert (record["NodeName"], record["State"]) == ("gpu3", "IDLE+DRAIN")
    assert rest_of(line, "Reason") == "fan = broken State=IDLE NodeName=evil"


def test_a_value_may_be_empty_or_hold_blanks() -> None:
    (record,) = records("NodeName=a OS=Linux 6.1 #1 SMP  AllocTRES= Weight=1")
    assert record == {"NodeName": "a", "OS": "Linux 6.1 #1 SMP", "AllocTRES": "", "Weight": "1"}


def test_lines_without_a_field_are_no_records() -> None:
    assert list(records("No reservations in the system\n\n")) == []


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("gpu:h100:8(S:0-1)", [Gres(name="gpu", type="h100", count=8)]),
        ("gpu:8", [Gres(name="gpu", type="", count=8)]),
        ("gpu", [Gres(name="gpu", type="", count=1)]),
        ("gpu:a100_3g.20gb:2", [Gres(name="gpu", type="a100_3g.20gb", count=2)]),
        ("gpu:h100:3(IDX:0,2-3)", [Gres(name="gpu", type="h100", count=3, indices=(0, 2, 3))]),
        ("gpu:h100:0(IDX:N/A)", [Gres(name="gpu", type="h100", count=0)]),
        ("gres:gpu:mi300x:3", [Gres(name="gpu", type="mi300x", count=3)]),
        ("nvme:2K", [Gres(name="nvme", type="", count=2048)]),
        ("gpu:h100:8(S:0,1),shard:h100:64(S:0,1)",
         [Gres(name="gpu", type="h100", count=8), Gres(name="shard", type="h100", count=64)]),
        ("(null)", []),
        ("", []),
    ],
)  # fmt: skip
def test_gres_lists(text: str, items: list[Gres]) -> None:
    assert list(gres(text)) == items


@pytest.mark.parametrize(
    ("text", "length"),
    [("7-00:00:00", 604_800), ("12:00:00", 43_200), ("00:01:30", 90), ("UNLIMITED", None), ("NONE", None), ("", None)],
)
def test_lengths(text: str, length: int | None) -> None:
    assert seconds(text) == length


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("64G", 65_536),
        ("2063000M", 2_063_000),
        ("1.50G", 1_536),
        ("1K", 1),
        ("1025K", 2),
        ("1T", 1 << 20),
        ("64", None),
    ],
)
def test_memory(text: str, amount: int | None) -> None:
    assert mebibytes(text) == amount


def test_times_are_utc() -> None:
    assert moment("2026-11-30T21:20:00") == 1_796_073_600
    assert moment("Unknown") is None


def test_host_lists_keep_zeros_and_nonsense_is_none() -> None:
    assert nodes("gpu[001-003]") == ("gpu001", "gpu002", "gpu003")
    assert nodes("(null)") == ()
    assert nodes("gpu[1-") == ()


def test_words_for_nothing_are_nothing() -> None:
    assert [stated(word) for word in (None, "(null)", "N/A", "UNLIMITED", "h100")] == ["", "", "", "", "h100"]


def test_counted_resources_keep_their_types_apart() -> None:
    assert tres("cpu=4,mem=64G,gres/gpu=3,gres/gpu:h100=3")["gres/gpu:h100"] == "3"
