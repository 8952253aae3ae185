"""The plan laid over objects that serve: their fields stay, replicas and places are those of the plan."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from planner.diagnostics import SpecError, as_text
from planner.plan import NodeUse
from planner.specset import SourceFile, load
from renderers import kubernetes
from renderers.manifest import Rendered
from tests.renderers.fleet import FLEET, a_node, a_segment
from tests.renderers.kubernetes.reading import documents, objects, schema_faults
from tests.renderers.kubernetes.test_services import a_plan, a_step

POD = """
    metadata: {labels: {app: chat}}
    spec:
      containers:
        - {name: proxy, image: "proxy:1"}
        - name: server
          image: old:1
          args: [--model, m]
          ports: [{name: api, containerPort: 8000}]
          resources: {limits: {nvidia.com/gpu: 2}}
"""
DEPLOYMENT = (
    """apiVersion: apps/v1
kind: Deployment
metadata: {name: theirs, annotations: {a: b}}
spec:
  replicas: 7
  selector: {matchLabels: {app: chat}}
  template:"""
    + POD
)
GROUPS = (
    """apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: theirs}
spec:
  leaderWorkerTemplate:
   size: 2
   workerTemplate:"""
    + POD
)
PREDICTOR = """apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: theirs}
spec:
  predictor:
    minReplicas: 3
    model:
      modelFormat: {name: huggingface}
      storageUri: s3://models/m
      resources: {limits: {nvidia.com/gpu: "2"}}
"""
SERVICE = """apiVersion: planner/v1
kind: Service
name: chat
team: vision
gpus: GPUS
load: {concurrent: 1}
headroom: 0%
template: chat.template.yaml
"""
ONE = (a_node("h100-001", 0, 1),)
GROUP = (a_node("h100-001", 0, 1), a_node("h100-002", 0, 1))


def rendered(template: str, *nodes: NodeUse, replicas: int = 1) -> Rendered:
    """A service laid over `template`, whose replicas are on `nodes`, checked against schemas and plan."""
    gpus = "{count: 4, nodes: 2}" if len(nodes) == 2 else "2"
    texts = {"fleet": FLEET, "chat": SERVICE.replace("GPUS", gpus), "chat.template": template}
    result = load([SourceFile(f"specs/{name}.yaml", text.encode()) for name, text in texts.items()])
    assert result.specset is not None, as_text(result.diagnostics)
    specs = result.specset
    segment = a_segment("dc1/h100", *nodes, specs=specs)
    plan = a_plan(specs, a_step(0, 2, *([segment] * replicas)), a_step(2, 168, segment))
    made = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(made) == []
    assert kubernetes.verify(documents(made), plan, specs, specs.clusters[0], made.degraded) == ()
    return made


def laid(template: str, *nodes: NodeUse, replicas: int = 1) -> dict[str, Any]:
    """The object that was laid over."""
    (found,) = objects(rendered(template, *(nodes or ONE), replicas=replicas), yaml.safe_load(template)["kind"])
    return found


def faults(template: str, *nodes: NodeUse) -> str:
    with pytest.raises(SpecError) as caught:
        rendered(template, *(nodes or ONE))
    return as_text(caught.value.diagnostics)


def test_a_deployment_keeps_its_containers_and_selector_and_has_the_planned_replicas_on_the_planned_nodes() -> None:
    item = laid(DEPLOYMENT, replicas=2)
    pod = item["spec"]["template"]
    assert (item["spec"]["replicas"], item["spec"]["selector"]) == (2, {"matchLabels": {"app": "chat"}})
    assert item["metadata"]["annotations"]["a"] == "b"
    assert pod["metadata"]["labels"]["app"] == "chat"
    assert pod["metadata"]["labels"]["planner.dev/service"] == "chat"
    proxy, server = pod["spec"]["containers"]
    assert proxy == {"name": "proxy", "image": "proxy:1"}
    assert (server["image"], server["args"]) == ("old:1", ["--model", "m"])
    assert server["ports"] == [{"name": "api", "containerPort": 8000}]
    assert server["readinessProbe"]["httpGet"] == {"path": "/health", "port": 8000}
    assert str(server["resources"]["limits"]["nvidia.com/gpu"]) == "2"
    (term,) = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term["matchExpressions"][0]["values"] == ["h100-001"]


def test_requests_reach_a_port_of_another_name_by_its_number() -> None:
    (front,) = objects(rendered(DEPLOYMENT, *ONE), "Service")
    assert front["spec"]["ports"] == [{"name": "http", "port": 8000, "targetPort": 8000}]


def test_probes_of_the_object_stay() -> None:
    own = DEPLOYMENT.replace("args: [", "readinessProbe: {exec: {command: [ok]}}\n          args: [")
    server = laid(own)["spec"]["template"]["spec"]["containers"][1]
    assert server["readinessProbe"] == {"exec": {"command": ["ok"]}}
    assert "startupProbe" not in server


def test_a_group_keeps_its_size() -> None:
    item = laid(GROUPS, *GROUP)
    assert (item["spec"]["replicas"], item["spec"]["leaderWorkerTemplate"]["size"]) == (1, 2)


def test_a_predictor_has_as_many_replicas_as_planned_and_no_front_of_ours() -> None:
    made = rendered(PREDICTOR, *ONE, replicas=2)
    (item,) = objects(made, "InferenceService")
    predictor = item["spec"]["predictor"]
    assert (predictor["minReplicas"], predictor["maxReplicas"]) == (2, 2)
    assert item["metadata"]["annotations"]["serving.kserve.io/stop"] == "false"
    assert predictor["model"]["storageUri"] == "s3://models/m"
    assert predictor["labels"]["planner.dev/service"] == "chat"
    assert "nodeAffinity" in predictor["affinity"]
    assert objects(made, "Service") == []


@pytest.mark.parametrize(
    ("template", "nodes", "said"),
    [
        (DEPLOYMENT.replace("gpu: 2", "gpu: 4"), ONE, "nvidia.com/gpu is 4"),
        (DEPLOYMENT, GROUP, "kind is Deployment in the template, and a replica is planned as a LeaderWorkerSet"),
        (GROUPS, ONE, "kind is LeaderWorkerSet in the template, and a replica is planned as a Deployment"),
        (GROUPS.replace("size: 2", "size: 3"), GROUP, "size is 3 in the template, and the plan has 2"),
        (DEPLOYMENT.replace("apps/v1", "apps/v1beta1"), ONE, "apiVersion is apps/v1beta1"),
        (DEPLOYMENT.replace("kind: Deployment", "kind: StatefulSet"), ONE, "has 0 objects of the kinds"),
    ],
)
def test_a_conflict_is_an_error(template: str, nodes: tuple[NodeUse, ...], said: str) -> None:
    assert said in faults(template, *nodes)
