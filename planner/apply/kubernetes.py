"""Kubernetes by kubectl: server-side apply under a field manager of our own, of objects that bear our mark.

Work that is created suspended is created once and never applied again: whoever admits it changes that field. Of work
that exists only labels, annotations and a Job's limits are changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from planner.apply import owned
from planner.apply.backend import BackendError, Call, Runner, run
from planner.apply.item import Action, Departure, Item, Presence, Rank, Record, Standing, Step
from planner.diagnostics import quoted
from planner.yamlio import rendered

MANAGER: Final = "gpu-fleet-planner"
LIST: Final = "kustomization.yaml"
MARK: Final = "app.kubernetes.io/managed-by"
PHASES: Final = "phases"
"""The folder of what holds at other times than the beginning of the plan."""
GATED: Final = "kueue.x-k8s.io/admission-gated-by"
GATE: Final = "planner.dev/planned-start"
QUEUE: Final = "kueue.x-k8s.io/queue-name"
WORKLOADS: Final = "workloads.kueue.x-k8s.io"
JOB_UID: Final = "kueue.x-k8s.io/job-uid"
"""What Kueue admits, and the label that says of which object."""
WAITING_QUEUE: Final = "planner.dev/queue"
"""Where a version of Kueue that knows no gates finds the queue that work joins when it is released."""
CREATED_ONCE: Final = frozenset({"Job", "JobSet", "TrainJob", "PyTorchJob", "MPIJob", "RayJob"})
"""Work that is created suspended."""
_WORK: Final = CREATED_ONCE | {"Deployment", "InferenceService", "StatefulSet", "LeaderWorkerSet", "Pod", "PodGroup"}
_CHANGEABLE: Final = ("activeDeadlineSeconds", "backoffLimit")
_REF: Final = re.compile(r"([A-Z][A-Za-z]*(?:\.v[0-9a-z]+\.[a-z0-9.-]+)?)/([a-z0-9-]*)/([a-z0-9][a-z0-9.-]*)")
_QUEUE_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_RANKS: Final = {
    "Namespace": Rank.NAMESPACE,
    "WorkloadPriorityClass": Rank.CLASS,
    "PriorityClass": Rank.CLASS,
    "Topology": Rank.CLASS,
    "ResourceFlavor": Rank.FLAVOR,
    "Cohort": Rank.COHORT,
    "ClusterQueue": Rank.QUEUE,
    "LocalQueue": Rank.QUEUE,
}
"""What must be there before other things that work needs."""
_SERVER_SIDE: Final = ("apply", "--server-side", f"--field-manager={MANAGER}")

Object = Mapping[str, Any]


def names_of(path: str, text: str) -> tuple[tuple[str, ...], Rank] | None:
    """What the objects of a file are called and how they rank; nothing for files that are not to be there now."""
    if not path.endswith(".yaml") or path.endswith(f"/{LIST}") or _is_of_a_phase(path):
        return None
    documents = objects_of(text)
    return tuple(map(ref_of, documents)), max(_rank(document["kind"]) for document in documents)


def _is_of_a_phase(path: str) -> bool:
    """Whether a file lies two folders deep below that of the cluster; a namespace may be called as the first."""
    _, folder, *rest = path.split("/")
    return folder == PHASES and len(rest) > 1


def _rank(kind: str) -> Rank:
    return Rank.WORKLOAD if kind in _WORK else _RANKS.get(kind, Rank.SERVICE)


def listed(text: str) -> frozenset[str]:
    """The files that a cluster's list names, by their paths below the cluster's folder."""
    return frozenset(path for document in objects_of(text) for path in document.get("resources") or ())


def objects_of(text: str) -> tuple[Object, ...]:
    """The objects of a manifest."""
    return tuple(document for document in rendered(text) if isinstance(document, dict))


def ref_of(document: Object) -> str:
    """`Job.v1.batch/vision/resnet-1`: the kind as kubectl reads it, the namespace (may be empty) and the name."""
    group, slash, version = document["apiVersion"].rpartition("/")
    kind = f"{document['kind']}.{version}.{group}" if slash else document["kind"]
    return f"{kind}/{document['metadata'].get('namespace', '')}/{document['metadata']['name']}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubernetes:
    """One cluster, reached by a context of kubectl; `adopts` takes fields from whoever manages them now.

    Without a context kubectl chooses: the current one, and in a pod the service account of that.
    """

    context: str
    runner: Runner
    adopts: bool = False

    def describe(self, step: Step) -> tuple[str, ...]:
        """The calls of kubectl; of a Job that exists only labels, annotations and limits are patched."""
        shown = f"{step.record.key}"
        made = [self._removal(ref).sentence for ref in step.dropped]
        for document in objects_of(step.item.text) if step.item else ():
            words = self._create_words() if document["kind"] in CREATED_ONCE else self._apply_words()
            made.append(Call(argv=words, shown=shown).sentence)
        return tuple(made)

    def presence(self, items: Iterable[Item]) -> Mapping[str, Presence]:
        """Whose the objects are, by their mark; one call for all."""
        wanted = tuple(items)
        documents = [document for item in wanted for document in objects_of(item.text)]
        live = {ref_of(one): one for one in self._get(documents)}
        return {item.key: _whose([live[ref] for ref in item.record.refs if ref in live]) for item in wanted}

    def departures(self, cluster: str, items: Iterable[Item]) -> Iterator[Departure]:
        """Objects that are gone, fields of ours with another value, and objects with our mark that nobody wants."""
        documents = {ref_of(document): (item.key, document) for item in items for document in objects_of(item.text)}
        live = {ref_of(one): one for one in self._get([document for _, document in documents.values()])}
        for ref, (key, document) in sorted(documents.items()):
            if ref not in live:
                yield Departure(key=key, standing=Standing.MISSING, field=ref)
                continue
            for path, planned, seen in owned.differences(_owned(document, live[ref]), live[ref]):
                yield Departure(key=key, standing=Standing.CHANGED, field=path, planned=planned, seen=seen)
        for ref in sorted(self._marked(documents) - documents.keys()):
            yield Departure(key=ref, standing=Standing.EXTRA)

    def _marked(self, refs: Iterable[str]) -> set[str]:
        """Objects with our mark, of the kinds of `refs`; what others make of our objects is left out."""
        kinds = ",".join(sorted({_parts(ref)[0] for ref in refs}))
        if not kinds:
            return set()
        words = ("get", kinds, "--all-namespaces", f"--selector={MARK}={MANAGER}", "--output=json")
        found = _object(run(self.runner, Call(argv=(*self._kubectl, *words, "--ignore-not-found"))).out) or {}
        return {ref_of(one) for one in found.get("items", ()) if not one["metadata"].get("ownerReferences")}

    def perform(self, step: Step) -> None:
        """Put or remove the objects of a step."""
        for ref in step.dropped:
            run(self.runner, self._removal(ref))
        for document in objects_of(step.item.text) if step.item and step.action is Action.PUT else ():
            if document["kind"] in CREATED_ONCE:
                self._put_once(document)
            else:
                run(self.runner, Call(argv=self._apply_words(), stdin=json.dumps(document)))

    def release(self, record: Record, address: str) -> bool:
        """Open the gate of work that waits for it, put it into its queue, or where nothing queues, let it run."""
        refs = [ref for ref in record.refs if _parts(ref)[0].partition(".")[0] in CREATED_ONCE]
        return any([self._release(ref) for ref in refs])

    def _release(self, ref: str) -> bool:
        live, where = self._live(ref)
        words = _opening(live, where)
        if words:
            run(self.runner, Call(argv=(*self._kubectl, *words, f"--field-manager={MANAGER}")))
        elif _is_queued(live):
            return self._set_active(live, where, active=True)
        return bool(words)

    def interrupt(self, record: Record, address: str) -> bool:
        """Suspend work that runs; what a queue admits is taken back there, which suspends it."""
        refs = [ref for ref in record.refs if _parts(ref)[0].partition(".")[0] in CREATED_ONCE]
        return any([self._interrupt(ref) for ref in refs])

    def _interrupt(self, ref: str) -> bool:
        live, where = self._live(ref)
        holder = live["spec"].get("runPolicy", live["spec"])
        if holder.get("suspend"):
            return False
        if (live["metadata"].get("labels") or {}).get(QUEUE) is not None:
            return self._set_active(live, where, active=False)
        self._patch_spec(where, {"suspend": True} if holder is live["spec"] else {"runPolicy": {"suspend": True}})
        return True

    def _live(self, ref: str) -> tuple[Object, tuple[str, ...]]:
        """An object of ours as it is, and the words that name it."""
        kind, namespace, name = _parts(ref)
        where = (kind, name, *_within(namespace))
        found = run(self.runner, Call(argv=(*self._kubectl, "get", *where, "--output=json", "--ignore-not-found"))).out
        live = _object(found)
        if live is None or _whose([live]) is not Presence.OURS:
            raise BackendError(f"{ref} is not there, or not ours any longer")
        return live, where

    def _set_active(self, live: Object, where: tuple[str, ...], *, active: bool) -> bool:
        """Let Kueue admit the workload of an object again, or take it back; False where it stands so already."""
        words = ("get", WORKLOADS, *where[2:], f"--selector={JOB_UID}={live['metadata'].get('uid', '')}")
        answer = run(self.runner, Call(argv=(*self._kubectl, *words, "--output=json", "--ignore-not-found"))).out
        found = (_object(answer) or {}).get("items") or []
        other = [item for item in found if item["spec"].get("active", True) is not active]
        for item in other:
            self._patch_spec((WORKLOADS, item["metadata"]["name"], *where[2:]), {"active": active})
        return bool(other)

    def _patch_spec(self, where: tuple[str, ...], spec: Object) -> None:
        words = ("patch", *where, "--type=merge", f"--patch={json.dumps({'spec': spec})}", f"--field-manager={MANAGER}")
        run(self.runner, Call(argv=(*self._kubectl, *words)))

    def _put_once(self, document: Object) -> None:
        found = next(iter(self._get([document])), None)
        if found is None:
            run(self.runner, Call(argv=self._create_words(), stdin=json.dumps(document)))
            return
        if _whose([found]) is Presence.FOREIGN and not self.adopts:
            raise BackendError(f"{ref_of(document)} is there and not ours")
        kind, namespace, name = _parts(ref_of(document))
        words = ("patch", kind, name, *_within(namespace), "--type=merge", f"--field-manager={MANAGER}")
        patch = json.dumps(_patch(document, found), sort_keys=True)
        run(self.runner, Call(argv=(*self._kubectl, *words, "--patch-file=/dev/stdin"), stdin=patch))

    def _get(self, documents: Sequence[Object]) -> list[Object]:
        if not documents:
            return []
        words = ("get", "--filename=-", "--output=json", "--ignore-not-found")
        bundle = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(documents)})
        answer = run(self.runner, Call(argv=(*self._kubectl, *words), stdin=bundle)).out
        try:
            found = json.loads(answer) if answer.strip() else {"items": []}
            return list(found["items"]) if "items" in found else [found]
        except (ValueError, TypeError, KeyError):
            raise BackendError("kubectl get did not answer with JSON") from None

    def _removal(self, ref: str) -> Call:
        """The call that removes an object only while it bears our mark."""
        kind, namespace, name = _parts(ref)
        words = ("delete", kind, *_within(namespace), f"--selector={MARK}={MANAGER}")
        return Call(
            argv=(
                *self._kubectl,
                *words,
                f"--field-selector=metadata.name={name}",
                "--ignore-not-found",
                "--wait=false",
            )
        )

    def _apply_words(self) -> tuple[str, ...]:
        force = ("--force-conflicts",) if self.adopts else ()
        return (*self._kubectl, *_SERVER_SIDE, *force, "--filename=-")

    def _create_words(self) -> tuple[str, ...]:
        return (*self._kubectl, "create", f"--field-manager={MANAGER}", "--filename=-")

    @property
    def _kubectl(self) -> tuple[str, ...]:
        return ("kubectl", f"--context={self.context}") if self.context else ("kubectl",)


def _object(text: str) -> Object | None:
    try:
        found = json.loads(text) if text.strip() else None
    except ValueError:
        raise BackendError("kubectl get did not answer with JSON") from None
    return found if isinstance(found, dict) else None


def _opening(live: Object, where: tuple[str, ...]) -> tuple[str, ...]:
    """The words that let work begin; none where it was let before."""
    annotations, labels = (live["metadata"].get(key) or {} for key in ("annotations", "labels"))
    if annotations.get(GATED) == GATE:
        return ("annotate", *where, f"{GATED}-")
    queue = annotations.get(WAITING_QUEUE)
    if queue is not None and labels.get(QUEUE) is None:
        if _QUEUE_NAME.fullmatch(queue) is None:
            raise BackendError(f"refusing {quoted(queue)}: it is not the name of a queue")
        return ("label", *where, f"{QUEUE}={queue}")
    holder = live["spec"].get("runPolicy", live["spec"])
    if queue is not None or labels.get(QUEUE) is not None or not holder.get("suspend"):
        return ()
    spec = {"suspend": False} if holder is live["spec"] else {"runPolicy": {"suspend": False}}
    return ("patch", *where, "--type=merge", f"--patch={json.dumps({'spec': spec})}")


def _is_queued(live: Object) -> bool:
    """Whether work waits, as its queue has not admitted it or has been told to take it back."""
    holder = live["spec"].get("runPolicy", live["spec"])
    annotations, labels = (live["metadata"].get(key) or {} for key in ("annotations", "labels"))
    return bool(holder.get("suspend")) and labels.get(QUEUE) is not None and GATED not in annotations


def _parts(ref: str) -> tuple[str, str, str]:
    match = _REF.fullmatch(ref)
    if match is None:
        raise BackendError(f"refusing {quoted(ref)}: it is not the name of a Kubernetes object")
    return match[1], match[2], match[3]


def _within(namespace: str) -> tuple[str, ...]:
    return (f"--namespace={namespace}",) if namespace else ()


def _whose(live: Sequence[Object]) -> Presence:
    if not live:
        return Presence.ABSENT
    marks = {(one["metadata"].get("labels") or {}).get(MARK) for one in live}
    return Presence.OURS if marks == {MANAGER} else Presence.FOREIGN


def _owned(document: Object, live: Object) -> Object:
    """The part of an object that apply keeps as it is: of work that others admit only what it would patch."""
    if document["kind"] in CREATED_ONCE:
        return _patch(document, live)
    names = ("labels", "annotations")
    metadata = {key: document["metadata"][key] for key in names if document["metadata"].get(key)}
    return {
        **{key: value for key, value in document.items() if key not in ("apiVersion", "kind")},
        "metadata": metadata,
    }


def _patch(document: Object, live: Object) -> dict[str, Any]:
    """What may change of a Job that exists; the gate of one that was released stays open."""
    metadata, spec = document["metadata"], document["spec"] if document["kind"] == "Job" else {}
    annotations = dict(metadata.get("annotations") or {})
    if GATED not in (live["metadata"].get("annotations") or {}):
        annotations.pop(GATED, None)
    changed: dict[str, Any] = {"metadata": {"labels": metadata.get("labels") or {}, "annotations": annotations}}
    limits = {key: spec[key] for key in _CHANGEABLE if key in spec}
    return {**changed, "spec": limits} if limits else changed
