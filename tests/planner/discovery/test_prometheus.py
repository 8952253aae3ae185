"""Prometheus, asked through its HTTP API: what is asked, what is refused, and what the verbs make of the answers."""

from __future__ import annotations

import json
import threading
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from planner.catalog import Vendor, vendors
from planner.cli import main
from planner.diagnostics import PlannerError, UsageError
from planner.discovery.past import Run
from planner.discovery.prometheus import Answer, Asked, answers, queries
from planner.discovery.usage import metered
from tests.planner.discovery.imports.workloads import job
from tests.planner.discovery.kubernetes.objects import listed, node, pod
from tests.planner.discovery.test_usage import answer, series

DAY = 86_400
NOW = 1_796_160_000


@dataclass
class Server:
    """A server that answers every query about the use of NVIDIA devices with `use`, and others by `moments`."""

    url: str = ""
    use: list[dict[str, Any]] = field(default_factory=list)
    moments: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    status: int = 200
    forms: list[dict[str, str]] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server on a free port of this machine."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            form = dict(urllib.parse.parse_qsl(self.rfile.read(size).decode()))
            state.forms.append(form | {"path": self.path})
            first = form["query"].partition("_over_time")[0].rpartition(" ")[2]
            found = [] if "DCGM" not in form["query"] else state.use if first == "avg" else state.moments.get(first, [])
            self.send_response(state.status)
            if state.status == 302:
                self.send_header("Location", "http://169.254.169.254/")
            self.end_headers()
            self.wfile.write(answer(*found).data)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is logged."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_port}"
    yield state
    http.shutdown()
    http.server_close()
    thread.join()


def test_each_vendor_is_asked_by_the_metrics_of_its_exporter() -> None:
    nvidia = dict(queries(vendors()[Vendor.NVIDIA], DAY))
    assert nvidia == {
        Asked.USE: "100 * avg_over_time(DCGM_FI_PROF_GR_ENGINE_ACTIVE[86400s])"
        " or 1 * avg_over_time(DCGM_FI_DEV_GPU_UTIL[86400s])",
        Asked.BEGAN: "min_over_time(timestamp(DCGM_FI_PROF_GR_ENGINE_ACTIVE)[86400s:43s])"
        " or min_over_time(timestamp(DCGM_FI_DEV_GPU_UTIL)[86400s:43s])",
        Asked.ENDED: "max_over_time(timestamp(DCGM_FI_PROF_GR_ENGINE_ACTIVE)[86400s:43s])"
        " or max_over_time(timestamp(DCGM_FI_DEV_GPU_UTIL)[86400s:43s])",
    }
    amd = dict(queries(vendors()[Vendor.AMD], 100))
    assert amd[Asked.BEGAN].startswith("min_over_time(timestamp(gpu_gfx_activity)[100s:1s])")
    assert queries(vendors()[Vendor.INTEL], 1)[0][1] == ""


def test_the_query_is_about_a_moment_and_goes_below_the_stated_path(server: Server) -> None:
    found = answers(f"{server.url}/prom/", DAY, NOW)
    assert [each.about for each in found] == [Asked.USE, Asked.BEGAN, Asked.ENDED] * 2
    assert {form["time"] for form in server.forms} == {str(NOW)}
    assert {form["path"] for form in server.forms} == {"/prom/api/v1/query"}


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("prometheus:9090", "is no address"),
        ("file:///etc/passwd", "is no address"),
        ("http://", "is no address"),
        ("http://host:99999", "is no address"),
        ("http://ann:hunter2@host", "a password does not belong into a command line"),
    ],
)
def test_what_is_no_address_of_a_server_is_refused(url: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        answers(url, DAY, NOW)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("status", [302, 400, 503])
def test_no_answer_is_a_failure_and_no_redirect_is_followed(server: Server, status: int) -> None:
    server.status = status
    with pytest.raises(PlannerError, match=f"answered {status}"):
        answers(server.url, DAY, NOW)


def test_nobody_there_is_a_failure() -> None:
    with pytest.raises(PlannerError, match="does not answer"):
        answers("http://127.0.0.1:1", DAY, NOW)


def seen(began: int, ended: int) -> tuple[Answer, ...]:
    labels = {"namespace": "vision", "pod": "resnet-1"}
    return (
        Answer(about=Asked.BEGAN, text=answer(series(f"{began}.25", **labels), series(f"{began + 9}", **labels))),
        Answer(about=Asked.ENDED, text=answer(series(f"{ended}.5", **labels), series("x", **labels))),
    )


@pytest.mark.parametrize(
    ("began", "ended", "seconds"),
    [
        (NOW - 7200, NOW - 3600, 3600),
        (NOW - DAY + 600, NOW - 600, DAY - 1200),
        (NOW - DAY + 599, NOW - 600, None),
        (NOW - DAY + 600, NOW - 599, None),
        (NOW - 3600, NOW - 3600, None),
    ],
)
def test_a_run_that_touches_the_window_has_no_length(began: int, ended: int, seconds: int | None) -> None:
    assert metered(seen(began, ended), (), NOW - DAY, NOW) == (
        Run(tenant="vision", name="resnet-1", part="vision/resnet-1", seconds=seconds),
    )


def test_discovery_tells_what_a_server_measured(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.use = [series("1.2", namespace="nlp", pod="notebook")]
    (tmp_path / "k.json").write_bytes(listed(node("n1"), pod("notebook", "n1", devices=2, namespace="nlp"))[0].data)
    told = ["discover", "--from", "kubernetes", "--name", "k1", str(tmp_path / "k.json")]
    assert main([*told, "--prometheus", server.url, "--at", "2026-12-01T00:00:00Z", "--window", "1d"]) == 0
    assert "\nMeasured use\n  nlp/notebook: 2 devices used 1.2 % on average: idle\n" in capsys.readouterr().out
    assert (server.forms[0]["time"], "[86400s]" in server.forms[0]["query"]) == ("1796083200", True)


def test_import_writes_how_long_runs_took_and_tells_idle_devices(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: float(NOW))
    for about, at in (("min", (NOW - 9_000, NOW - 20_000)), ("max", (NOW - 1_800, NOW - 16_400))):
        server.moments[about] = [series(str(each), namespace="vision", pod=f"resnet-{n}") for n, each in enumerate(at)]
    server.use = [series("4", namespace="vision", pod="resnet-0")]
    (tmp_path / "job.json").write_text(json.dumps(job()))
    assert main(["import", str(tmp_path / "job.json"), "--prometheus", server.url]) == 0
    told = capsys.readouterr()
    assert "\nduration: {expected: 2h, limit: 2h}" not in told.out
    assert "\nduration: 2h\n" in told.out
    assert "  2 runs took 1h to 2h, half of them at most 2h\n" in told.err
    assert "  its devices were used 4.0 % on average: idle\n" in told.err


@pytest.mark.parametrize("window", ["7", "0s", "soon"])
def test_a_window_is_a_length_of_time(window: str, server: Server, tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text(json.dumps(job()))
    told = ["import", str(tmp_path / "job.json"), "--prometheus", server.url, "--window", window]
    assert main(told) == 64
