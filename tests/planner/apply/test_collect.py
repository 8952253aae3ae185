"""From files to objects: what counts now, what is protected, and which cluster comes first."""

from __future__ import annotations

import json

from planner.apply.collect import Rendering, clusters_in_order, items_of
from planner.apply.item import Rank
from planner.specset import SpecSet
from tests import builders


def specs() -> SpecSet:
    """A Kubernetes cluster and a Slurm one, where a job of the first waits for one of the second."""
    return builders.loaded(
        builders.a_cluster(),
        builders.a_cluster(builders.a_pool("a"), name="hpc", backend="slurm"),
        builders.a_job("prep"),
        builders.a_job("train", after=["prep"], labels={"planner/protected": "true"}),
    )


def a_file(path: str, kind: str = "ClusterQueue", *addresses: str) -> Rendering:
    """A file with one object."""
    text = json.dumps({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": "x"}})
    return Rendering(path=path, text=text, addresses=addresses)


def a_list(*paths: str) -> Rendering:
    """The list of what holds now."""
    return Rendering(path="dc1/kustomization.yaml", text=json.dumps({"kind": "Kustomization", "resources": paths}))


def test_files_for_later_moments_are_not_objects_of_now() -> None:
    files = [
        a_list("_cluster/queue-x.yaml", "phases/queue-x.yaml"),
        a_file("dc1/_cluster/queue-x.yaml"),
        a_file("dc1/phases/queue-x.yaml"),
        a_file("dc1/phases/20261206T230000Z/queue-x.yaml"),
        Rendering(path="dc1/phases/20261206T230000Z/kustomization.yaml", text="{}"),
        Rendering(path="dc1/index.json", text="{}"),
    ]
    assert [item.key for item in items_of(files, specs())] == ["dc1/_cluster/queue-x.yaml", "dc1/phases/queue-x.yaml"]


def test_what_a_protected_spec_made_is_protected() -> None:
    files = [a_file("dc1/a.yaml", "Job", "job/vision/train"), a_file("dc1/b.yaml", "Job", "job/vision/prep")]
    assert [item.record.protected for item in items_of(files, specs())] == [True, False]


def test_programs_run_after_the_files_and_again_when_one_of_those_changes() -> None:
    def programs(script: str) -> list[str]:
        files = [
            Rendering(path="hpc/submit.sh", text="#!/bin/sh\n", executable=True),
            Rendering(path="hpc/accounts.sh", text="#!/bin/sh\n", executable=True),
            Rendering(path="hpc/jobs/a.sbatch", text=script),
        ]
        made = items_of(files, specs())
        assert [(item.key, item.record.rank) for item in made] == [
            ("hpc/accounts.sh", Rank.PROGRAM), ("hpc/jobs/a.sbatch", Rank.WORKLOAD), ("hpc/submit.sh", Rank.PROGRAM)
        ]  # fmt: skip
        return [item.record.digest for item in made if item.record.rank is Rank.PROGRAM]

    assert programs("one") == programs("one")
    assert all(one != two for one, two in zip(programs("one"), programs("two"), strict=True))


def test_a_cluster_follows_the_one_whose_work_its_own_waits_for() -> None:
    files = [
        a_file("dc1/a.yaml", "Job", "job/vision/train"),
        Rendering(path="hpc/jobs/b.sbatch", text="", addresses=("job/vision/prep",)),
    ]
    items = items_of(files, specs())
    assert clusters_in_order(specs(), items) == ("hpc", "dc1")
    assert clusters_in_order(specs(), items[:1]) == ("dc1", "hpc")
