"""Measured use of devices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli import main
from planner.diagnostics import UsageError
from planner.discovery.found import Seat, Text, Use
from planner.discovery.usage import Measured, measured, told
from tests.planner.discovery.kubernetes.objects import listed, node, pod


def answer(*series: dict[str, Any], status: str = "success") -> Text:
    tree = {"status": status, "error": "bad query", "data": {"resultType": "vector", "result": list(series)}}
    return Text(name="use.json", data=json.dumps(tree).encode())


def series(value: Any, **labels: str) -> dict[str, Any]:
    return {"metric": {"__name__": "DCGM_FI_DEV_GPU_UTIL", "gpu": "0", **labels}, "value": [1_796_073_600, value]}


def test_a_series_belongs_to_the_pod_whose_labels_it_has_and_not_to_the_exporters_own() -> None:
    labels = {
        "namespace": "monitoring",
        "pod": "dcgm-exporter-1",
        "exported_namespace": "nlp",
        "exported_pod": "notebook",
    }
    assert measured([answer(series("12.34", **labels))]) == (Measured(part="nlp/notebook", permille=123),)


def test_a_series_of_slurm_belongs_to_its_job() -> None:
    assert measured([answer(series("99", hpc_job="9"))]) == (Measured(part="job 9", permille=990),)


def test_a_range_is_averaged() -> None:
    ranged = {"metric": {"namespace": "a", "pod": "b"}, "values": [[1, "10"], [2, "20"], [3, "NaN"]]}
    assert measured([answer(ranged)]) == (Measured(part="a/b", permille=150),)


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1", "100.1", "x", None, []])
def test_what_is_no_percentage_is_left_out(value: Any) -> None:
    assert measured([answer(series(value, namespace="a", pod="b"))]) == ()


def test_a_series_of_nobody_is_left_out() -> None:
    assert measured([answer(series("5"), series("5", namespace="a"))]) == ()


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"status": "success"}', b'{"status": "success", "data": 3}'])
def test_anything_else_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"'use\.json' is not an answer of Prometheus"):
        measured([Text(name="use.json", data=data)])


def test_an_error_of_prometheus_is_told() -> None:
    with pytest.raises(UsageError, match="answered with an error: bad query"):
        measured([answer(status="error")])


@pytest.mark.parametrize(("permille", "ending"), [(99, "9.9 % on average: idle"), (100, "10.0 % on average")])
def test_less_than_a_tenth_is_idle(permille: int, ending: str) -> None:
    use = Use(name="job 9", owner="nlp/ann", seats=(Seat(node="n1", devices=(0, 1)),), parts=("job 9",))
    (sentence,) = told([use], [Measured(part="job 9", permille=permille)])
    assert sentence == f"nlp/ann: 2 devices used {ending}"


def test_the_least_used_comes_first_and_what_is_not_measured_is_not_spoken_of() -> None:
    uses = [Use(name=name, owner=name, seats=(Seat(node="n1", count=1),), parts=(name,)) for name in ("a", "b", "c")]
    lines = told(
        uses, [Measured(part="a", permille=900), Measured(part="b", permille=500), Measured(part="b", permille=100)]
    )
    assert lines == ("b: 1 device used 30.0 % on average", "a: 1 device used 90.0 % on average")


def test_the_verb_tells_idle_devices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    objects = listed(node("n1"), pod("notebook", "n1", devices=2, namespace="nlp"))[0]
    (tmp_path / "objects.json").write_bytes(objects.data)
    (tmp_path / "use.json").write_bytes(
        answer(*(series(value, namespace="nlp", pod="notebook") for value in ("1", "1.5"))).data
    )
    arguments = [
        "--from",
        "kubernetes",
        "--name",
        "k1",
        str(tmp_path / "objects.json"),
        "--usage",
        str(tmp_path / "use.json"),
    ]
    assert main(["discover", *arguments]) == 0
    assert "\nMeasured use\n  nlp/notebook: 2 devices used 1.2 % on average: idle\n" in capsys.readouterr().out
    assert main(["discover", "--usage", str(tmp_path / "use.json")]) == 64
