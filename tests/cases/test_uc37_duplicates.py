"""UC-37: nothing is overwritten silently, within a file or between files."""

from __future__ import annotations

from planner.diagnostics import Diagnostic
from planner.source import SourceFile
from planner.specset import load

JOB = "apiVersion: planner/v1\nkind: Job\nname: j\nteam: t\nimage: r/x:1\ngpus: 8\nduration: 1h\n"
CLUSTER = """\
apiVersion: planner/v1
kind: Cluster
name: {0}
backend: slurm
pools:
  - {{name: p, nodes: '{1}', cpus: 8, memory: 64Gi}}
"""


def told(**files: str) -> list[Diagnostic]:
    return list(load([SourceFile(f"{name}.yaml", text.encode()) for name, text in files.items()]).diagnostics)


def test_the_second_of_two_equal_keys_is_told_with_both_lines() -> None:
    (error,) = told(a="team-a: {quota: 1}\nteam-b: {quota: 2}\nteam-a: {quota: 3}\n")
    assert (error.code, str(error.place), str(error.related[0].place)) == ("SPEC102", "a.yaml:3:1", "a.yaml:1:1")


def test_a_merge_key_is_refused_with_what_to_do_instead() -> None:
    (error,) = told(a=JOB + "labels: &base {a: b}\nenv: {<<: *base, a: c}\n")
    assert error.code == "SPEC104"
    assert "Team.defaults" in error.help


def test_one_job_in_two_files_is_told_with_both() -> None:
    errors = [error for error in told(a=JOB, b=JOB) if error.code == "SPEC401"]
    assert [str(error.place) for error in errors] == ["b.yaml:3:7"]
    assert str(errors[0].related[0].place) == "a.yaml:3:7"


def test_jobs_of_one_name_in_two_teams_are_two() -> None:
    assert not [error for error in told(a=JOB, b=JOB.replace("team: t", "team: u")) if error.code == "SPEC401"]


def test_one_node_in_two_files_is_told_with_both() -> None:
    (error,) = told(a=CLUSTER.format("one", "n[1-4]"), b=CLUSTER.format("two", "n[4-8]"))
    assert error.code == "SPEC402"
    assert "'n4'" in error.summary
    assert str(error.related[0].place) == "a.yaml:6:22"


def test_nodes_of_one_name_at_two_places_are_two() -> None:
    one, two = CLUSTER.format("one", "box-1"), CLUSTER.format("two", "box-1")
    assert told(a=one + "place: {edge: store-1}\n", b=two + "place: {edge: store-2}\n") == []
    assert [error.code for error in told(a=one + "place: {edge: store-1}\n", b=two + "place: {edge: store-1}\n")] == [
        "SPEC402"
    ]


def test_thousands_of_aliases_do_not_blow_up() -> None:
    bomb = "a: &a [x]\n" + "".join(
        f"b{n}: &b{n} [{', '.join(['*' + ('a' if n == 0 else f'b{n - 1}')] * 50)}]\n" for n in range(20)
    )
    (error,) = told(a=bomb)
    assert error.code == "SPEC108"
