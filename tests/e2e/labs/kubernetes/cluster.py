"""A real control plane on loopback: etcd, API server, scheduler, controllers and Kueue with its webhooks.

No container runs: nodes are objects that a test creates, and `kubelets` plays what would run on them. Admission,
validation, quota and scheduling are the real programs.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.labs import requirements
from tests.e2e.labs.kubernetes import programs
from tests.e2e.labs.kubernetes.api import TOKEN, Api, Object
from tests.e2e.labs.processes import Running, free_ports, listens, run, running

KUEUE_METRICS = Path("/etc/kueue/metrics/certs")
"""The one path that Kueue 0.17 lets nobody set."""
CONTROLLERS = (
    *("job", "replicaset", "deployment", "statefulset", "garbage-collector", "namespace", "serviceaccount"),
    *("ttl-after-finished", "resourceclaim", "root-ca-certificate-publisher", "disruption", "pod-garbage-collector"),
)
FRAMEWORKS = (
    *("batch/job", "jobset.x-k8s.io/jobset", "kubeflow.org/pytorchjob", "trainer.kubeflow.org/trainjob"),
    *("ray.io/rayjob", "pod", "deployment", "statefulset", "leaderworkerset.x-k8s.io/leaderworkerset"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A control plane that runs."""

    root: Path
    api: Api

    @property
    def kubeconfig(self) -> Path:
        """How clients reach it."""
        return self.root / "kubeconfig"

    def kubectl(self, *words: object, stdin: str | None = None) -> str:
        """What kubectl says."""
        program = programs.kubernetes() / "kubectl"
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.root)}
        return run(program, f"--kubeconfig={self.kubeconfig}", *words, stdin=stdin, env=environment)

    def apply(self, *words: object, stdin: str | None = None) -> list[str]:
        """Apply on the server with strict validation: a line for each object."""
        return self.kubectl("apply", "--server-side", "--validate=strict", *words, stdin=stdin).splitlines()

    def would_be(self, *words: object) -> list[Object]:
        """The objects as the server would hold them after an apply that it only tries."""
        return _items("\n".join(self.apply("--dry-run=server", "--output=json", *words)))

    def live(self, *words: object) -> list[Object]:
        """The objects as the server holds them."""
        return _items(self.kubectl("get", "--output=json", *words))

    def apply_objects(self, objects: Sequence[Object]) -> list[str]:
        """Apply objects that are at hand."""
        return self.apply("-f", "-", stdin="\n---\n".join(map(json.dumps, objects)))


def _items(text: str) -> list[Object]:
    found: Object = json.loads(text)
    items: list[Object] = found["items"] if found["kind"] == "List" else [found]
    return items


@contextlib.contextmanager
def running_cluster(root: Path) -> Iterator[Cluster]:
    """Start a control plane with Kueue under `root`; leaving the block stops it."""
    requirements.root(f"write to {KUEUE_METRICS}")
    etcd, openssl = requirements.program("etcd", "etcd-server"), requirements.program("openssl", "openssl")
    binaries = programs.kubernetes()
    programs.kueue()
    storage, peer, port, *others = free_ports(9)
    _certificates(root, openssl)
    cluster = Cluster(root=root, api=Api(port=port, certificate=root / "lab.crt"))
    _write_kubeconfig(cluster)
    with running(root / "log") as started:
        _start_etcd(started, root, etcd, storage, peer)
        _start_server(started, cluster, binaries / "kube-apiserver", storage)
        _start_controllers(started, cluster, binaries, *others[:2])
        cluster.kubectl(
            "apply", "--server-side", "-f", "-", stdin="\n---\n".join(map(json.dumps, programs.definitions()))
        )
        cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        _start_kueue(started, cluster, others[2:])
        yield cluster


def _certificates(root: Path, openssl: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)
    run(
        *(openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=lab"),
        *("-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"),
        *("-keyout", root / "lab.key", "-out", root / "lab.crt"),
    )
    run(openssl, "genrsa", "-out", root / "accounts.key", "2048")
    for folder in (root / "webhook", KUEUE_METRICS):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / "lab.crt", folder / "tls.crt")
        shutil.copy(root / "lab.key", folder / "tls.key")


def _write_kubeconfig(cluster: Cluster) -> None:
    server = {"server": cluster.api.server, "certificate-authority": str(cluster.api.certificate)}
    configuration = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": server}],
        "users": [{"name": "admin", "user": {"token": TOKEN}}],
        "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "admin"}}],
    }
    cluster.kubeconfig.write_text(json.dumps(configuration))
    cluster.kubeconfig.chmod(0o600)


def _start_etcd(started: Running, root: Path, program: Path, port: int, peer: int) -> None:
    url = f"http://127.0.0.1:{port}"
    started.start(
        *("etcd", program, "--data-dir", root / "etcd", "--unsafe-no-fsync"),
        *("--listen-client-urls", url, "--advertise-client-urls", url),
        *("--listen-peer-urls", f"http://127.0.0.1:{peer}"),
    )
    started.wait_for(lambda: listens(port), "etcd")


def _start_server(started: Running, cluster: Cluster, program: Path, storage: int) -> None:
    root = cluster.root
    (root / "tokens.csv").write_text(f"{TOKEN},admin,admin,system:masters\n")
    started.start(
        *("kube-apiserver", program, f"--etcd-servers=http://127.0.0.1:{storage}"),
        *("--bind-address=127.0.0.1", f"--secure-port={cluster.api.port}"),
        # A loopback address is refused as what others reach the server by, and no others exist.
        *("--advertise-address=192.0.2.1", "--endpoint-reconciler-type=none"),
        *(f"--cert-dir={root}/server", f"--tls-cert-file={root}/lab.crt", f"--tls-private-key-file={root}/lab.key"),
        *("--service-cluster-ip-range=10.0.0.0/24", "--service-account-issuer=https://lab.local"),
        *(f"--service-account-key-file={root}/accounts.key", f"--service-account-signing-key-file={root}/accounts.key"),
        *(f"--token-auth-file={root}/tokens.csv", "--authorization-mode=RBAC", "--allow-privileged=true"),
    )
    started.wait_for(lambda: cluster.kubectl("get", "--raw", "/readyz") == "ok", "the API server")


def _start_controllers(started: Running, cluster: Cluster, binaries: Path, scheduler: int, controllers: int) -> None:
    config, root = cluster.kubeconfig, cluster.root
    often = (f"--kubeconfig={config}", "--leader-elect=false", "--bind-address=127.0.0.1")
    started.start(
        *("kube-scheduler", binaries / "kube-scheduler", *often, f"--secure-port={scheduler}"),
        *(f"--authentication-kubeconfig={config}", f"--authorization-kubeconfig={config}"),
    )
    started.start(
        *("kube-controller-manager", binaries / "kube-controller-manager", *often, f"--secure-port={controllers}"),
        f"--controllers={','.join(f'{name}-controller' for name in CONTROLLERS)}",
        *(f"--service-account-private-key-file={root}/accounts.key", f"--root-ca-file={root}/lab.crt"),
    )


def _start_kueue(started: Running, cluster: Cluster, ports: Sequence[int]) -> None:
    webhook, health, metrics = ports[:3]
    root = cluster.root
    cluster.kubectl("create", "namespace", "kueue-system")
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": f"127.0.0.1:{metrics}"},
        "webhook": {"port": webhook, "host": "127.0.0.1", "certDir": str(root / "webhook")},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "clientConnection": {"qps": 200, "burst": 400},
        "integrations": {"frameworks": FRAMEWORKS},
    }
    (root / "kueue.yaml").write_text(json.dumps(configuration))
    environment = {"PATH": os.environ["PATH"], "KUBECONFIG": str(cluster.kubeconfig), "POD_NAMESPACE": "kueue-system"}
    options = (f"--config={root}/kueue.yaml", "--feature-gates=VisibilityOnDemand=false")
    started.start("kueue", programs.kueue() / "kueue", *options, env=environment)
    started.wait_for(lambda: listens(webhook), "Kueue")
    cluster.apply_objects([_reached_at(document, webhook, root / "lab.crt") for document in programs.webhooks()])


def _reached_at(document: Object, port: int, certificate: Path) -> Object:
    """A webhook configuration of Kueue whose webhooks listen on loopback."""
    authority = base64.b64encode(certificate.read_bytes()).decode()
    hooks = []
    for hook in document["webhooks"]:
        url = f"https://127.0.0.1:{port}{hook['clientConfig']['service']['path']}"
        hooks.append(hook | {"clientConfig": {"url": url, "caBundle": authority}})
    metadata = document["metadata"] | {"name": f"kueue-{document['metadata']['name']}"}
    return document | {"metadata": metadata, "webhooks": hooks}
