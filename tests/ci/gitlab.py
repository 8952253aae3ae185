"""What `curl` does for the pipeline, with a folder in the place of GitLab, as `tests.ci.forge` has one for GitHub."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.ci.forge import Kept

PROJECT = "/api/v4/projects/7/"


@dataclass(slots=True)
class Asked:
    """One call: the method, what it asks for, and what it brings."""

    method: str = ""
    url: str = ""
    token: str = ""
    content: dict[str, Any] | None = None
    form: dict[str, str] = field(default_factory=dict)


def asked(arguments: Sequence[str]) -> Asked:
    """The call that a command line makes."""
    found, words = Asked(), iter(arguments)
    for word in words:
        match word:
            case "--fail" | "--silent":
                pass
            case "--header":
                found.token = next(words).partition(":")[2]
            case "--request":
                found.method = next(words)
            case "--json":
                text = next(words)
                found.content = json.loads(Path(text[1:]).read_text("utf-8") if text.startswith("@") else text)
            case "--form":
                name, _, value = next(words).partition("=")
                found.form[name] = value
            case _:
                assert not word.startswith("-"), word
                found.url = word
    found.method = found.method or ("POST" if found.content or found.form else "GET")
    return found


def answer(kept: Kept, call: Asked) -> Any:
    """What GitLab answers."""
    url = urlsplit(call.url)
    assert url.path.startswith(PROJECT), call.url
    path = url.path.removeprefix(PROJECT).split("/")
    return _found(kept, path, parse_qs(url.query)) if call.method == "GET" else _changed(kept, path, call)


def _found(kept: Kept, path: Sequence[str], query: dict[str, list[str]]) -> Any:
    there = kept.read()
    match path:
        case ("repository", "commits", commit, "merge_requests"):
            return [each for each in there["pulls"] if each["commit"] == commit]
        case ("merge_requests", number, "notes"):
            return [each for each in there["comments"] if each["issue"] == int(number)]
        case ("merge_requests",):
            return [each for each in there["pulls"] if [each.get("source_branch")] == query["source_branch"]]
        case ("issues",):
            return [each for each in there["issues"] if [each["labels"]] == query["labels"] and each["open"]]
        case _:
            raise NotImplementedError(path)


def _changed(kept: Kept, path: Sequence[str], call: Asked) -> Any:
    content = dict(call.content or {})
    match (call.method, *path):
        case ("POST", "merge_requests" | "issues" as kind):
            made = kept.add(_KINDS[kind], **content, open=True, commit="")
            kept.change(_KINDS[kind], made, iid=made)
            return {"iid": made}
        case ("POST", "merge_requests", number, "notes"):
            kept.add("comments", issue=int(number), author={"username": "fleet-bot"}, **content)
        case ("PUT", "merge_requests" | "issues" as kind, number):
            closed = {"open": False} if content.pop("state_event", "") == "close" else {}
            kept.change(_KINDS[kind], int(number), **content, **closed)
        case ("POST", "trigger", "pipeline"):
            kept.add("started", inputs=call.form)
        case _:
            raise NotImplementedError(call)
    return {}


_KINDS = {"merge_requests": "pulls", "issues": "issues"}


def main() -> int:
    """Answer one call; without the token of the bot as curl does with `--fail`."""
    call = asked(sys.argv[1:])
    if call.token != os.environ.get("PLANNER_APPLY_TOKEN"):
        return 22
    sys.stdout.write(json.dumps(answer(Kept(root=Path(os.environ["FORGE"])), call)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
