"""Names, times and lists as Slurm takes them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from renderers.refusal import Unsupported
from renderers.slurm import words


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("job/vision/resnet", "vision.resnet"),
        ("job/vision/sweep[3]", "vision.sweep.3"),
        ("job/a-b/c", "a-b.c"),
        ("job/a/b-c", "a.b-c"),
    ],
)
def test_a_stem_tells_every_address_apart(address: str, expected: str) -> None:
    assert words.stem(address) == expected


@pytest.mark.parametrize("text", ["vision.resnet", "a", "A_b-c.9"])
def test_a_clean_name_keeps_its_spelling_before_the_hash_of_its_run(text: str) -> None:
    name = words.job_name(text, "sha256:1")
    assert name.startswith(f"{text}-")
    assert re.fullmatch(r"-[0-9a-f]{8}", name.removeprefix(text))


def test_another_run_has_another_name_and_the_same_run_the_same() -> None:
    assert words.job_name("a.b", "sha256:1") == words.job_name("a.b", "sha256:1")
    assert words.job_name("a.b", "sha256:1") != words.job_name("a.b", "sha256:2")


def test_texts_that_are_cleaned_to_the_same_letters_stay_apart() -> None:
    names = {words.job_name(text, "1") for text in ("Big (v2) sim", "Big [v2] sim", "Big-v2-sim", " Big v2 sim")}
    assert len(names) == 4


@given(st.text())
def test_any_text_gives_a_name_that_a_directive_takes(text: str) -> None:
    name = words.job_name(text, "1")
    assert re.fullmatch(r"[A-Za-z0-9_.][A-Za-z0-9_.-]{0,127}", name)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (1, "0-00:01:00"),
        (30, "0-00:01:00"),
        (60, "0-00:01:00"),
        (61, "0-00:02:00"),
        (90 * 60, "0-01:30:00"),
        (240 * 60, "0-04:00:00"),
        (36 * 3600, "1-12:00:00"),
        (48 * 3600, "2-00:00:00"),
        (60 * 3600, "2-12:00:00"),
        (100 * 86_400, "100-00:00:00"),
        (86_399, "1-00:00:00"),
    ],
)
def test_a_limit_is_days_hours_minutes_and_rounds_up(seconds: int, expected: str) -> None:
    assert words.wall_time(seconds) == expected
    assert 0 <= words.seconds_of(expected) - seconds < 60


@pytest.mark.parametrize(
    ("seconds", "most_milliseconds", "expected"),
    [
        (172_800, 172_800_000, "2-00:00:00"),
        (172_770, 172_800_000, "2-00:00:00"),
        (150, 170_000, "0-00:02:00"),
        (20, 30_000, "0-00:01:00"),
    ],
)
def test_rounding_never_passes_what_the_partition_allows(seconds: int, most_milliseconds: int, expected: str) -> None:
    assert words.wall_time(seconds, most_milliseconds) == expected


def test_a_limit_beyond_what_the_partition_allows_is_refused() -> None:
    with pytest.raises(Unsupported, match="172801 s is more than the 172800 s"):
        words.wall_time(172_801, 172_800_000)


@pytest.mark.parametrize("text", ["4:00", "60", "2-12", "0:240:0", "1-2:3:4", "UNLIMITED", "INFINITE", ""])
def test_no_other_spelling_is_read_as_a_limit(text: str) -> None:
    with pytest.raises(ValueError, match="is not D-HH:MM:SS"):
        words.seconds_of(text)


@pytest.mark.parametrize("text", ["gpu", "h100_80gb.hbm3", "nvidia_h100_80gb_hbm3", "p-1"])
def test_a_bare_name_passes(text: str) -> None:
    assert words.plain(text, "type") == text


@pytest.mark.parametrize(
    "text", ["", "-p", "a b", "a#b", "a'b", 'a"b', "a\\b", "a\nb", "a,b", "a:b", "a;b", "$a", "é", "a-"]
)
def test_what_a_directive_could_read_otherwise_is_refused(text: str) -> None:
    with pytest.raises(Unsupported, match="cannot stand in an #SBATCH line"):
        words.plain(text, "partition")


def test_a_list_of_partitions_passes_and_an_empty_part_does_not() -> None:
    assert words.plain_list("gpu,debug", "partition") == "gpu,debug"
    with pytest.raises(Unsupported):
        words.plain_list("gpu,", "partition")


def test_a_comment_holds_address_spec_and_mark_and_nothing_else() -> None:
    text = words.comment("job/vision/sweep[3]", "sha256:0123456789abcdef", "aa.bb")
    assert text == "planner:job/vision/sweep[3]@0123456789ab+aa.bb"
    with pytest.raises(Unsupported):
        words.plain_comment("a b")


def test_resources_are_one_list() -> None:
    assert words.gres((("gpu", "h100", 8), ("gpu", None, 1), ("nvme", None, 2))) == "gpu:h100:8,gpu:1,nvme:2"
