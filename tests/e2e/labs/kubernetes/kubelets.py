"""Plays the kubelets of a lab: keeps nodes ready, and walks pods that the real scheduler bound through their lives."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.e2e.labs.kubernetes.api import Api, Object
from tests.e2e.labs.processes import Failed

ADDRESS = "planner.dev/address"
NOT_READY = "node.kubernetes.io/not-ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A pod that runs: whose, where, and since when in seconds since 1970."""

    namespace: str
    pod: str
    address: str
    node: str
    at: float


@dataclass(slots=True)
class Kubelets:
    """What has started, in order.

    `lasts` is how many seconds the pods of an address run, others until they are deleted; `faults` is what went wrong.
    """

    api: Api
    lasts: dict[str, float] = field(default_factory=dict)
    started: list[Started] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _since: dict[str, float] = field(default_factory=dict)

    def step(self) -> None:
        """Look at all nodes and pods once."""
        for node in self.api.items("/api/v1/nodes"):
            self._keep_ready(node)
        for pod in self.api.items("/api/v1/pods"):
            if pod["spec"].get("nodeName"):
                self._advance(pod)

    def _keep_ready(self, node: Object) -> None:
        conditions = node["status"].get("conditions", [])
        if any(item["type"] == "Ready" and item["status"] == "True" for item in conditions):
            return
        path = f"/api/v1/nodes/{node['metadata']['name']}"
        self.api.merge(f"{path}/status", {"status": {"conditions": [_condition("Ready")]}})
        kept = [taint for taint in node["spec"].get("taints", []) if taint["key"] != NOT_READY]
        self.api.merge(path, {"spec": {"taints": kept or None}})

    def _advance(self, pod: Object) -> None:
        meta, phase = pod["metadata"], pod["status"].get("phase")
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        if "deletionTimestamp" in meta:
            with contextlib.suppress(Failed):
                self.api.call("DELETE", path, {"gracePeriodSeconds": 0})
        elif phase == "Pending":
            self._start(pod, path)
        elif phase == "Running" and self._is_over(meta):
            self.api.merge(
                f"{path}/status", {"status": {"phase": "Succeeded", "conditions": [_condition("Ready", "False")]}}
            )

    def _start(self, pod: Object, path: str) -> None:
        meta, now = pod["metadata"], time.time()
        ready = [_condition(kind) for kind in ("Ready", "ContainersReady", "Initialized")]
        self.api.merge(
            f"{path}/status", {"status": {"phase": "Running", "conditions": ready, "startTime": _timestamp()}}
        )
        self._since[meta["uid"]] = now
        self.started.append(
            Started(
                namespace=meta["namespace"],
                pod=meta["name"],
                address=meta.get("annotations", {}).get(ADDRESS, ""),
                node=pod["spec"]["nodeName"],
                at=now,
            )
        )

    def _is_over(self, meta: Object) -> bool:
        seconds = self.lasts.get(meta.get("annotations", {}).get(ADDRESS, ""))
        return seconds is not None and time.time() - self._since.get(meta["uid"], 0) >= seconds


@contextlib.contextmanager
def playing(api: Api) -> Iterator[Kubelets]:
    """Kubelets that play beside the test until the block is left."""
    kubelets, over = Kubelets(api), threading.Event()

    def play() -> None:
        while not over.wait(0.2):
            try:
                kubelets.step()
            except Failed as error:
                kubelets.faults.append(str(error))

    thread = threading.Thread(target=play, name="kubelets", daemon=True)
    thread.start()
    try:
        yield kubelets
    finally:
        over.set()
        thread.join()


def _condition(kind: str, status: str = "True") -> Object:
    return {"type": kind, "status": status, "lastTransitionTime": _timestamp(), "reason": "Lab", "message": ""}


def _timestamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
