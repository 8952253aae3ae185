"""Kubernetes, by a kubectl that keeps objects in memory."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from planner.apply import kubernetes
from planner.apply.backend import Answer, BackendError, Call
from planner.apply.item import Action, Item, Presence, Rank, Record, Step, digest_of
from planner.apply.kubernetes import GATED, MANAGER, MARK, Kubernetes
from planner.spec.backend import BackendType

JOB = "Job.v1.batch/vision/resnet-1"


def a_job(name: str = "resnet-1", *, limit: int = 3_600, mark: str = MANAGER, **annotations: str) -> dict[str, Any]:
    """A suspended Job as the renderer writes it."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name, "namespace": "vision", "labels": {MARK: mark},
            "annotations": {GATED: "planner.dev/planned-start", **annotations},
        },
        "spec": {"suspend": True, "activeDeadlineSeconds": limit},
    }  # fmt: skip


def a_queue(name: str = "vision-nvidia") -> dict[str, Any]:
    """A queue without a namespace."""
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
        "metadata": {"name": name, "labels": {MARK: MANAGER}}, "spec": {},
    }  # fmt: skip


def an_item(*documents: dict[str, Any], path: str = "dc1/vision/job-resnet-1.yaml") -> Item:
    """A manifest with these objects; JSON is YAML."""
    text = "---\n".join(json.dumps(document) + "\n" for document in documents)
    names = kubernetes.names_of(path, text)
    assert names is not None
    record = Record(
        key=path, cluster="dc1", backend=BackendType.KUBERNETES, refs=names[0], rank=names[1], digest=digest_of(text)
    )
    return Item(record=record, text=text)


def put(item: Item, before: Record | None = None) -> Step:
    """The step that makes an object as wanted."""
    return Step(number=0, action=Action.PUT, record=item.record, item=item, before=before)


def removal(item: Item) -> Step:
    """The step that removes an object."""
    return Step(number=0, action=Action.REMOVE, record=item.record)


@dataclass
class Kubectl:
    """The verbs of kubectl that apply uses, over objects by their reference."""

    live: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[tuple[str, ...]] = field(default_factory=list)
    refuses: str = ""

    def __call__(self, call: Call) -> Answer:
        """Answer one call."""
        words = call.argv[2:]
        self.calls.append(words)
        if self.refuses == words[0]:
            return Answer(code=1, err="error: the server is gone")
        return {"get": self._get, "create": self._create, "apply": self._apply}.get(words[0], self._named)(words, call)

    def _get(self, _words: tuple[str, ...], call: Call) -> Answer:
        wanted = [kubernetes.ref_of(document) for document in json.loads(call.stdin)["items"]]
        found = [self.live[ref] for ref in wanted if ref in self.live]
        one = json.dumps(found[0]) if len(found) == 1 else json.dumps({"kind": "List", "items": found})
        return Answer(code=0, out=one if found else "")

    def _create(self, _words: tuple[str, ...], call: Call) -> Answer:
        document = json.loads(call.stdin)
        if kubernetes.ref_of(document) in self.live:
            return Answer(code=1, err="Error from server (AlreadyExists)")
        self.live[kubernetes.ref_of(document)] = document
        return Answer(code=0)

    def _apply(self, _words: tuple[str, ...], call: Call) -> Answer:
        document = json.loads(call.stdin)
        self.live[kubernetes.ref_of(document)] = document
        return Answer(code=0)

    def _named(self, words: tuple[str, ...], call: Call) -> Answer:
        if words[0] == "patch":
            found, change = self.live[f"{words[1]}/vision/{words[2]}"], json.loads(call.stdin)
            found["metadata"]["annotations"].update(change["metadata"]["annotations"])
            found["spec"].update(change.get("spec", {}))
            return Answer(code=0)
        options = dict(word.partition("=")[::2] for word in words[2:])
        name = options["--field-selector"].removeprefix("metadata.name=")
        ref = f"{words[1]}/{options.get('--namespace', '')}/{name}"
        if ref in self.live and self.live[ref]["metadata"]["labels"].get(MARK) == MANAGER:
            del self.live[ref]
        return Answer(code=0)


def a_cluster(kubectl: Kubectl, *, adopts: bool = False) -> Kubernetes:
    """The cluster of that kubectl."""
    return Kubernetes(context="dc1", runner=kubectl, adopts=adopts)


@pytest.mark.parametrize(
    ("path", "document", "expected"),
    [
        ("dc1/vision/job-a.yaml", a_job(), ((JOB,), Rank.WORKLOAD)),
        ("dc1/_cluster/queue-a.yaml", a_queue(), (
            ("ClusterQueue.v1beta2.kueue.x-k8s.io//vision-nvidia",), Rank.QUEUE)),
        ("dc1/v/namespace.yaml", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "v"}}, (
            ("Namespace//v",), Rank.NAMESPACE)),
        ("dc1/v/role-a.yaml", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "a", "namespace": "v"}},
            (("Role.v1.rbac.authorization.k8s.io/v/a",), Rank.SERVICE)),
        ("dc1/kustomization.yaml", a_job(), None),
        ("dc1/index.json", a_job(), None),
        ("dc1/phases/20261201T000000Z/queue-a.yaml", a_queue(), None),
        ("dc1/phases/queue-a.yaml", a_queue(), (
            ("ClusterQueue.v1beta2.kueue.x-k8s.io//vision-nvidia",), Rank.QUEUE)),
    ],
)  # fmt: skip
def test_objects_are_called_as_kubectl_calls_them(path: str, document: dict[str, Any], expected: object) -> None:
    assert kubernetes.names_of(path, json.dumps(document)) == expected


def test_a_job_is_created_once_and_never_suspended_again() -> None:
    kubectl = Kubectl()
    cluster = a_cluster(kubectl)
    cluster.perform(put(an_item(a_job())))
    kubectl.live[JOB]["spec"]["suspend"] = False
    cluster.perform(put(an_item(a_job(limit=7_200))))
    assert kubectl.live[JOB]["spec"] == {"suspend": False, "activeDeadlineSeconds": 7_200}
    assert [words[0] for words in kubectl.calls] == ["get", "create", "get", "patch"]


def test_a_gate_that_was_opened_stays_open_and_a_closed_one_closed() -> None:
    kubectl = Kubectl()
    cluster = a_cluster(kubectl)
    cluster.perform(put(an_item(a_job())))
    cluster.perform(put(an_item(a_job(start="later"))))
    assert kubectl.live[JOB]["metadata"]["annotations"] == {GATED: "planner.dev/planned-start", "start": "later"}
    del kubectl.live[JOB]["metadata"]["annotations"][GATED]
    cluster.perform(put(an_item(a_job(start="later still"))))
    assert kubectl.live[JOB]["metadata"]["annotations"] == {"start": "later still"}


def test_what_work_needs_is_applied_by_the_server_under_our_name() -> None:
    kubectl = Kubectl()
    a_cluster(kubectl).perform(put(an_item(a_queue(), path="dc1/_cluster/queue-a.yaml")))
    assert kubectl.calls == [("apply", "--server-side", "--field-manager=gpu-fleet-planner", "--filename=-")]
    a_cluster(kubectl, adopts=True).perform(put(an_item(a_queue(), path="dc1/_cluster/queue-a.yaml")))
    assert "--force-conflicts" in kubectl.calls[-1]


def test_only_objects_with_our_mark_are_removed() -> None:
    kubectl = Kubectl()
    item = an_item(a_job())
    for mark, left in ((MANAGER, set()), ("helm", {JOB})):
        kubectl.live = {JOB: a_job(mark=mark)}
        a_cluster(kubectl).perform(removal(item))
        assert set(kubectl.live) == left
    a_cluster(Kubectl()).perform(removal(item))


def test_an_object_that_has_another_name_now_takes_the_old_one_along() -> None:
    kubectl = Kubectl()
    cluster, old, new = a_cluster(kubectl), an_item(a_job()), an_item(a_job("resnet-2"))
    cluster.perform(put(old))
    cluster.perform(put(new, before=old.record))
    assert set(kubectl.live) == {"Job.v1.batch/vision/resnet-2"}


def test_whose_an_object_is_says_its_mark() -> None:
    items = [an_item(a_job(name), path=f"dc1/vision/job-{name}.yaml") for name in ("ours", "theirs", "none")]
    kubectl = Kubectl({
        "Job.v1.batch/vision/ours": a_job("ours"),
        "Job.v1.batch/vision/theirs": {**a_job("theirs"), "metadata": {"name": "theirs", "namespace": "vision"}},
    })  # fmt: skip
    assert a_cluster(kubectl).presence(items) == {
        "dc1/vision/job-ours.yaml": Presence.OURS,
        "dc1/vision/job-theirs.yaml": Presence.FOREIGN,
        "dc1/vision/job-none.yaml": Presence.ABSENT,
    }
    assert len(kubectl.calls) == 1


def test_a_job_of_others_is_not_touched_even_when_it_appears_in_between() -> None:
    kubectl = Kubectl({JOB: a_job(mark="helm")})
    with pytest.raises(BackendError, match="is there and not ours"):
        a_cluster(kubectl).perform(put(an_item(a_job())))
    assert [words[0] for words in kubectl.calls] == ["get"]


def test_a_server_that_is_gone_is_told_with_its_own_words() -> None:
    with pytest.raises(BackendError, match="ended with 1: error: the server is gone"):
        a_cluster(Kubectl(refuses="get")).perform(put(an_item(a_job())))


@pytest.mark.parametrize(
    "ref",
    [
        "--all/vision/x",
        "Job.v1.batch/vision/--all",
        "Job.v1.batch/../x",
        "Job/vision/x y",
        "Job/vision/",
        "job",
        "Job/v/x\n",
    ],
)
def test_hostile_names_of_an_inventory_reach_no_program(ref: str) -> None:
    kubectl = Kubectl()
    record = Record(key="dc1/x.yaml", cluster="dc1", backend=BackendType.KUBERNETES, rank=Rank.WORKLOAD, refs=(ref,))
    with pytest.raises(BackendError, match="is not the name of a Kubernetes object"):
        a_cluster(kubectl).perform(Step(number=0, action=Action.REMOVE, record=record))
    assert kubectl.calls == []


def test_a_dry_run_shows_the_calls_and_not_what_they_read() -> None:
    cluster, item = a_cluster(Kubectl()), an_item(a_job(note="hush"))
    shown = cluster.describe(put(item)) + cluster.describe(removal(item))
    assert shown == (
        "kubectl --context=dc1 create --field-manager=gpu-fleet-planner --filename=- < dc1/vision/job-resnet-1.yaml",
        "kubectl --context=dc1 delete Job.v1.batch --namespace=vision"
        " --selector=app.kubernetes.io/managed-by=gpu-fleet-planner --field-selector=metadata.name=resnet-1"
        " --ignore-not-found --wait=false",
    )


def a_release(live: dict[str, Any], ref: str = JOB) -> tuple[bool, list[tuple[str, ...]]]:
    """Release work whose object is as given; whether it was held, and the calls that changed something."""

    @dataclass
    class Live:
        calls: list[tuple[str, ...]] = field(default_factory=list)

        def __call__(self, call: Call) -> Answer:
            """Answer with the object."""
            self.calls.append(call.argv[2:])
            return Answer(code=0, out=json.dumps(live) if live and call.argv[2] == "get" else "")

    kubectl = Live()
    record = Record(key="dc1/x.yaml", cluster="dc1", backend=BackendType.KUBERNETES, rank=Rank.WORKLOAD, refs=(ref,))
    held = Kubernetes(context="dc1", runner=kubectl).release(record, "job/vision/resnet")
    return held, [words for words in kubectl.calls if words[0] != "get"]


WHERE = ("Job.v1.batch", "resnet-1", "--namespace=vision")
OURS = f"--field-manager={MANAGER}"


def ungated(suspend: bool, **metadata: dict[str, str]) -> dict[str, Any]:
    """A Job without a gate."""
    made = a_job()
    del made["metadata"]["annotations"][GATED]
    made["metadata"]["annotations"] |= metadata.get("annotations", {})
    made["metadata"]["labels"] |= metadata.get("labels", {})
    made["spec"]["suspend"] = suspend
    return made


@pytest.mark.parametrize(
    ("live", "call"),
    [
        (a_job(), ("annotate", *WHERE, f"{GATED}-", OURS)),
        (ungated(True, labels={kubernetes.QUEUE: "vision-nvidia"}), None),
        (ungated(False, labels={kubernetes.QUEUE: "vision-nvidia"}), None),
        (
            ungated(True, annotations={kubernetes.WAITING_QUEUE: "vision-nvidia"}),
            ("label", *WHERE, "kueue.x-k8s.io/queue-name=vision-nvidia", OURS),
        ),
        (
            ungated(
                True,
                annotations={kubernetes.WAITING_QUEUE: "vision-nvidia"},
                labels={kubernetes.QUEUE: "vision-nvidia"},
            ),
            None,
        ),
        (ungated(True), ("patch", *WHERE, "--type=merge", '--patch={"spec": {"suspend": false}}', OURS)),
        (ungated(False), None),
    ],
)
def test_work_is_released_in_the_way_in_which_it_is_held(live: dict[str, Any], call: tuple[str, ...] | None) -> None:
    assert a_release(live) == ((True, [call]) if call else (False, []))


def test_a_gate_of_somebody_else_stays_closed() -> None:
    live = a_job()
    live["metadata"]["annotations"][GATED] = "example.com/approval"
    live["metadata"]["labels"][kubernetes.QUEUE] = "vision-nvidia"
    assert a_release(live) == (False, [])


@dataclass
class Admitting:
    """Answers with a Job and its workload."""

    live: dict[str, Any]
    active: bool | None
    calls: list[tuple[str, ...]] = field(default_factory=list)

    def __call__(self, call: Call) -> Answer:
        """Answer with the object, or the workloads."""
        words = call.argv[2:]
        self.calls.append(words)
        if words[:2] == ("get", kubernetes.WORKLOADS):
            spec = {} if self.active is None else {"active": self.active}
            return Answer(code=0, out=json.dumps({"items": [{"metadata": {"name": "job-resnet-1"}, "spec": spec}]}))
        return Answer(code=0, out=json.dumps(self.live) if words[0] == "get" else "")


def an_answer(live: dict[str, Any], active: bool | None, *, release: bool) -> tuple[bool, list[tuple[str, ...]]]:
    """Interrupt or release work; whether that changed something, and the calls that did."""
    kubectl = Admitting(live | {"metadata": live["metadata"] | {"uid": "u1"}}, active)
    cluster = Kubernetes(context="dc1", runner=kubectl)
    record = Record(key="dc1/x.yaml", cluster="dc1", backend=BackendType.KUBERNETES, rank=Rank.WORKLOAD, refs=(JOB,))
    act = cluster.release if release else cluster.interrupt
    did = act(record, "job/vision/resnet")
    return did, [words for words in kubectl.calls if words[0] != "get"]


QUEUED = {"labels": {kubernetes.QUEUE: "vision-nvidia"}}
WORKLOAD = (kubernetes.WORKLOADS, "job-resnet-1", "--namespace=vision")


def patched(where: tuple[str, ...], spec: str) -> list[tuple[str, ...]]:
    return [("patch", *where, "--type=merge", f'--patch={{"spec": {spec}}}', OURS)]


@pytest.mark.parametrize(
    ("live", "active", "calls"),
    [
        (ungated(False), None, patched(WHERE, '{"suspend": true}')),
        (ungated(True), None, []),
        (ungated(False, **QUEUED), None, patched(WORKLOAD, '{"active": false}')),
        (ungated(False, **QUEUED), True, patched(WORKLOAD, '{"active": false}')),
        (ungated(False, **QUEUED), False, []),
        (ungated(True, **QUEUED), True, []),
    ],
)
def test_work_is_interrupted_by_whoever_let_it_run(
    live: dict[str, Any], active: bool | None, calls: list[tuple[str, ...]]
) -> None:
    assert an_answer(live, active, release=False) == (bool(calls), calls)


@pytest.mark.parametrize(
    ("live", "active", "calls"),
    [
        (ungated(True), None, patched(WHERE, '{"suspend": false}')),
        (ungated(True, **QUEUED), False, patched(WORKLOAD, '{"active": true}')),
        (ungated(True, **QUEUED), True, []),
        (ungated(False, **QUEUED), False, []),
    ],
)
def test_interrupted_work_goes_on_when_it_is_released(
    live: dict[str, Any], active: bool | None, calls: list[tuple[str, ...]]
) -> None:
    assert an_answer(live, active, release=True) == (bool(calls), calls)


@pytest.mark.parametrize("live", [{}, a_job(mark="helm")])
def test_what_is_not_there_or_not_ours_is_not_released(live: dict[str, Any]) -> None:
    with pytest.raises(BackendError, match="is not there, or not ours any longer"):
        a_release(live)


def test_a_queue_name_that_is_none_reaches_no_program() -> None:
    with pytest.raises(BackendError, match="is not the name of a queue"):
        a_release(ungated(True, annotations={kubernetes.WAITING_QUEUE: "--overwrite"}))
