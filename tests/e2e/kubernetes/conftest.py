"""One control plane for all tests of this folder; each test begins with none of the planner's objects in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.labs.kubernetes.cluster import Cluster, running_cluster

OURS = "--selector=app.kubernetes.io/managed-by=gpu-fleet-planner"
QUEUEING = "clusterqueues,cohorts,resourceflavors,topologies,workloadpriorityclasses"


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A control plane with Kueue."""
    with running_cluster(tmp_path_factory.mktemp("kubernetes")) as running:
        yield running


@pytest.fixture
def cluster(control_plane: Cluster) -> Iterator[Cluster]:
    """The control plane, emptied after the test."""
    yield control_plane
    control_plane.kubectl("delete", "jobs", "--all", "--all-namespaces", "--cascade=foreground")
    control_plane.kubectl("delete", "namespaces,clusterroles,clusterrolebindings", OURS)
    control_plane.kubectl("delete", QUEUEING, "--all")
    control_plane.kubectl("delete", "nodes", "--all")
