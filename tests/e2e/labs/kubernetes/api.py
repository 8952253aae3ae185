"""The API server of a lab over plain HTTPS: reading objects, and writing their status as kubelets do."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.labs.processes import Failed

TOKEN = "lab-admin-token"
"""Good for one API server on loopback, and thrown away with it."""

Object = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """Where the API server listens, and the certificate that it shows."""

    port: int
    certificate: Path

    @property
    def server(self) -> str:
        """Its URL."""
        return f"https://127.0.0.1:{self.port}"

    def call(self, method: str, path: str, body: object = None, kind: str = "application/json") -> Object:
        """One request; raises `Failed` with the server's answer where that is an error."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.server + path, method=method, data=data)
        request.add_header("Authorization", f"Bearer {TOKEN}")
        request.add_header("Content-Type", kind)
        context = ssl.create_default_context(cafile=str(self.certificate))
        try:
            with urllib.request.urlopen(request, context=context, timeout=30) as answer:
                found: Object = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            with error:
                raise Failed(f"{method} {path}: {error.code} {error.read().decode(errors='replace')}") from None
        except urllib.error.URLError as error:
            raise Failed(f"{method} {path}: {error.reason}") from None

    def items(self, path: str) -> list[Object]:
        """All objects of a list."""
        found: list[Object] = self.call("GET", path)["items"]
        return found

    def merge(self, path: str, change: Object) -> None:
        """A merge patch; what has gone meanwhile needs none."""
        try:
            self.call("PATCH", path, change, "application/merge-patch+json")
        except Failed as error:
            if ": 404 " not in str(error):
                raise
