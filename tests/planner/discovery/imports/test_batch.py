"""sbatch scripts as Job specs."""

from __future__ import annotations

from typing import Any

import pytest

from planner.discovery.imports.batch import is_script, script
from planner.discovery.imports.imported import Imported, ImportWish, Refused
from tests.planner.discovery.imports.workloads import DAY, MODELS, SCRIPT


def of(*options: str, body: str = "srun train\n", wish: ImportWish = DAY) -> Imported | Refused:
    lines = "".join(f"#SBATCH {option}\n" for option in ("-A vision", *options))
    return script("jobs/train.sbatch", f"#!/bin/bash\n{lines}{body}".encode(), wish, MODELS)


def fields(*options: str) -> dict[str, Any]:
    result = of(*options)
    assert isinstance(result, Imported), result
    return dict(result.fields)


def test_a_script_says_nodes_devices_memory_time_and_features() -> None:
    result = script("jobs/train.sbatch", SCRIPT.encode(), ImportWish(), MODELS)
    assert isinstance(result, Imported)
    assert result.document == {
        "apiVersion": "planner/v1", "kind": "Job", "name": "llama-pretrain", "team": "vision", "priority": "P1",
        "gpus": {"count": 32, "nodes": 4, "model": "h100"}, "cpus": 96, "memory": "1800Gi", "tasks_per_node": 8,
        "needs": {"features": ["ib", "hopper"]}, "duration": {"expected": "2d12h", "limit": "2d12h"},
        "template": "llama-pretrain.sbatch",
    }  # fmt: skip
    assert result.template == SCRIPT.encode()
    assert result.untold == ("how long it takes is not known; its limit is written for that",)


@pytest.mark.parametrize(
    ("options", "gpus"),
    [
        (("--gres=gpu:2",), {"count": 2}),
        (("--gres=gpu:mi300x:8", "--nodes=2"), {"count": 16, "nodes": 2, "model": "mi300x"}),
        (("--gpus-per-node=h100:4", "-N2"), {"count": 8, "nodes": 2, "model": "h100"}),
        (("--gpus=16",), {"count": 16}),
        (("-G h100:16", "-N 4"), {"count": 16, "nodes": 4, "model": "h100"}),
        (("--gpus-per-task=1", "--ntasks=8"), {"count": 8}),
        ((), {"count": 0}),
        (("-c 4",), {"count": 0}),
    ],
)
def test_devices_in_all_their_spellings(options: tuple[str, ...], gpus: dict[str, Any]) -> None:
    assert fields(*options)["gpus"] == gpus


@pytest.mark.parametrize(
    ("time", "limit"),
    [("90", "1h30m"), ("90:30", "1h30m30s"), ("12:00:00", "12h"), ("2-12", "2d12h"), ("1-00:30", "1d30m"),
     ("7-00:00:00", "7d")],
)  # fmt: skip
def test_time_limits_in_all_their_spellings(time: str, limit: str) -> None:
    assert fields(f"--time={time}")["duration"]["limit"] == limit


@pytest.mark.parametrize(
    ("options", "key", "value"),
    [
        (("--mem=64G",), "memory", "64Gi"),
        (("--mem=2048",), "memory", "2Gi"),
        (("--mem=1500K",), "memory", "2Mi"),
        (("--mem=0",), "memory", None),
        (("--mem-per-gpu=100G",), "memory_per_gpu", "100Gi"),
        (("--mem-per-cpu=2G", "-c 8"), "memory", "16Gi"),
        (("-c 8", "--ntasks-per-node=4"), "cpus", 32),
        (("--cpus-per-gpu=12",), "cpus_per_gpu", 12),
        (("--array=0-9%4",), "array", "0-9%4"),
        (("--ntasks=8", "-N 2", "--gres=gpu:4"), "tasks_per_node", 4),
        (("--qos=P3",), "priority", "P3"),
    ],
)
def test_other_options(options: tuple[str, ...], key: str, value: object) -> None:
    assert fields(*options).get(key) == value


def test_options_that_no_field_says_are_told_and_those_of_the_script_itself_are_not() -> None:
    result = of("--partition=gpu", "--exclusive", "--qos=long", "--constraint=a|b", "--output=x.log", "--mail-type=END")
    assert isinstance(result, Imported)
    assert result.untold == (
        "--exclusive is in the script only",
        "--partition is in the script only",
        "--qos=long is in the script only; write priority",
        "--constraint=a|b is in the script only",
    )


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("hetjob",), "not alike"),
        (("--gres=gpu:zz9:1",), "does not know the type 'zz9'; say it with --model zz9="),
        (("--gres=gpu:h100:4,gpu:a100:4",), "several types"),
        (("--gres=shard:1",), "shares devices"),
        (("-N 2-4",), "--nodes=2-4 is not one number"),
        (("-N 2",), "several nodes without devices"),
        (("--gpus=5", "-N 2"), "cannot be divided evenly"),
        (("--array=1,3,5",), "not a range"),
        (("--export=ALL,TOKEN=x",), "--export sets values"),
        (('--job-name="x',), "cannot be read"),
        (("-Z",), "the option '-Z' is not known"),
        (("--comment=planner:job/vision/x@0123456789ab",), "the planner wrote it"),
    ],
)
def test_what_no_job_can_be_is_refused_with_its_reason(options: tuple[str, ...], why: str) -> None:
    result = of(*options)
    assert isinstance(result, Refused)
    assert why in result.reason


@pytest.mark.parametrize(
    ("line", "is_secret"),
    [
        ("export HF_TOKEN=hunter2", True), ("WANDB_API_KEY=abc srun x", True), ("export DB_PASSWORD='x'", True),
        ("export HF_TOKEN=$(cat ~/.token)", False), ("export HF_TOKEN=$TOKEN", False),
        ("export OMP_NUM_THREADS=8", False),
    ],
)  # fmt: skip
def test_a_script_that_holds_a_secret_is_not_copied(line: str, is_secret: bool) -> None:
    result = of(body=f"{line}\nsrun train\n")
    assert isinstance(result, Refused) is is_secret
    assert "hunter2" not in getattr(result, "reason", "")


def test_without_time_or_account_it_asks() -> None:
    assert of(wish=ImportWish()) == Refused(
        subject="script jobs/train.sbatch", reason="it does not say how long it takes: say it with --duration"
    )
    result = script("x.sh", b"#!/bin/sh\n#SBATCH -t 5\n", ImportWish(), MODELS)
    assert isinstance(result, Refused)
    assert "--team" in result.reason


def test_the_file_gives_the_name_where_the_script_has_none() -> None:
    result = of()
    assert isinstance(result, Imported)
    assert result.name == "train"


def test_scripts_are_told_from_other_files() -> None:
    assert is_script(SCRIPT.encode())
    assert not is_script(b"#!/bin/sh\necho hi\n")
    assert not is_script(b"kind: Job\n#SBATCH x\n")
