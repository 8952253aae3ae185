"""A real Prometheus that scrapes what a test serves."""

from __future__ import annotations

import contextlib
import threading
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.e2e.labs import requirements
from tests.e2e.labs.processes import free_ports, running

CONFIGURATION = """global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: devices
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


@contextlib.contextmanager
def exporter(metrics: Callable[[], str]) -> Iterator[int]:
    """Serve what `metrics` says at every scrape; gives the port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(metrics().encode())

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def running_prometheus(root: Path, port: int) -> Iterator[str]:
    """A server that asks the exporter at a port every second; gives its address."""
    program = requirements.program("prometheus", "prometheus")
    (root / "prometheus.yml").write_text(CONFIGURATION.format(port=port))
    (own,) = free_ports(1)
    url = f"http://127.0.0.1:{own}"
    with running(root / "log") as started:
        started.start(
            *("prometheus", program, f"--config.file={root}/prometheus.yml", f"--storage.tsdb.path={root}/data"),
            f"--web.listen-address=127.0.0.1:{own}",
        )
        started.wait_for(lambda: _answers(url), "prometheus")
        yield url


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/-/ready", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False
