"""Dynamic resource allocation: a class for each model and partition, and claims of jobs for so many of a class."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from planner.catalog import vendors
from planner.catalog.vendor import filled
from planner.spec.backend import DevicesBy
from renderers.kubernetes.emit import document
from renderers.kubernetes.naming import dns_label, short_hash
from renderers.kubernetes.resources import class_resource, layout_of, requests_of
from renderers.kubernetes.scene import CLUSTER_FOLDER
from renderers.manifest import Manifest
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from planner.catalog import Accelerator, Catalog
    from planner.spec.cluster import Cluster, NodePool
    from renderers.payload import Payload

Tree = dict[str, Any]

_API = "resource.k8s.io/v1"


def class_name(resource: str) -> str:
    """The device class that a quota's resource counts."""
    return dns_label(f"planner-{resource.rpartition('/')[2]}")


def is_claimed(payload: Payload) -> bool:
    """Whether the devices of a job are claimed."""
    return bool(payload.devices) and payload.cluster.backend.devices is DevicesBy.DRA


def classes(cluster: Cluster, catalog: Catalog) -> Iterator[Manifest]:
    """A device class for each model and partition of a cluster that claims devices."""
    if cluster.backend.devices is not DevicesBy.DRA:
        return
    found: dict[str, tuple[Tree, set[str]]] = {}
    for pool in cluster.pools:
        for group in pool.gpus:
            accelerator = catalog.get(group.model)
            for profile in ("", *_profiles(pool)) if accelerator else ():
                assert accelerator is not None
                tree = _class(accelerator, profile, pool, cluster)
                found.setdefault(tree["metadata"]["name"], (tree, set()))[1].add(f"pool/{cluster.name}/{pool.name}")
    for name, (tree, pools) in sorted(found.items()):
        path = f"{cluster.name}/{CLUSTER_FOLDER}/deviceclass-{name}.yaml"
        yield Manifest(path=path, text=document(tree), addresses=tuple(sorted(pools)))


def _profiles(pool: NodePool) -> tuple[str, ...]:
    fixed = {item.profile for _, devices in pool.partitions.fixed for _, items in devices for item in items}
    return tuple(sorted({*pool.partitions.allowed, *fixed, *filter(None, [pool.partitions.compute])}))


def _class(accelerator: Accelerator, profile: str, pool: NodePool, cluster: Cluster) -> Tree:
    expressions = [_selector(accelerator, profile, layout_of(pool, cluster.backend).memory_mode)]
    if product := _product(accelerator):
        expressions.append(product)
    return {
        "apiVersion": _API,
        "kind": "DeviceClass",
        "metadata": {
            "name": class_name(class_resource(accelerator, profile)),
            "labels": {"app.kubernetes.io/managed-by": "gpu-fleet-planner"},
        },
        "spec": {"selectors": [{"cel": {"expression": " && ".join(filter(None, expressions))}}]},
    }


def _selector(accelerator: Accelerator, profile: str, memory_mode: str) -> str:
    facts = vendors()[accelerator.vendor]
    if not profile:
        return facts.device_selector or ""
    return filled(facts.partition_selector or "", profile=profile.lower(), memory_mode=memory_mode)


def _product(accelerator: Accelerator) -> str:
    """The model, by the product name of its label, in which other characters may stand for the blanks."""
    facts = vendors()[accelerator.vendor]
    name = dict(accelerator.kubernetes_labels).get(facts.product_label_key or "")
    if name is None or facts.device_class is None:
        return ""
    pattern = "".join("[ _-]" if char in " _-" else re.escape(char) for char in name)
    return f"device.attributes[{json.dumps(facts.device_class)}].productName.matches({json.dumps(f'^{pattern}$')})"


def template_of(payload: Payload, namespace: str, workload: str) -> Tree | None:
    """The template of the claims of a job's pods; None where it claims nothing.

    A template does not change in place, so that its name says what it holds.
    """
    if not is_claimed(payload):
        return None
    accelerator = payload.accelerator
    if accelerator is None or not _selector(accelerator, "", ""):
        raise Unsupported("no source tells how such devices are claimed. Use a device plugin")
    requests = [
        {
            "name": f"devices-{index}",
            "exactly": {"deviceClassName": class_name(resource), "allocationMode": "ExactCount", "count": count},
        }
        for index, (resource, count) in enumerate(requests_of(payload))
    ]
    content = json.dumps(requests, sort_keys=True)
    return {
        "apiVersion": _API,
        "kind": "ResourceClaimTemplate",
        "metadata": {
            "name": dns_label(f"{workload}-{short_hash(content)}"),
            "namespace": namespace,
            "labels": {"app.kubernetes.io/managed-by": "gpu-fleet-planner"},
            "annotations": {"planner.dev/address": payload.address},
        },
        "spec": {"spec": {"devices": {"requests": requests}}},
    }
