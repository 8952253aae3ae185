"""What `gh` does for the workflows, with a folder in the place of GitHub: `$FORGE/forge.json` and a list of calls."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

BOT: Final = {"login": "github-actions[bot]", "type": "Bot"}
EMPTY: Final[dict[str, list[dict[str, Any]]]] = {"pulls": [], "comments": [], "issues": [], "started": []}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The folder: pull requests, comments, issues, and workflows that were started."""

    root: Path

    def read(self) -> dict[str, list[dict[str, Any]]]:
        """All that is there."""
        path = self.root / "forge.json"
        return {**EMPTY, **(json.loads(path.read_text("utf-8")) if path.exists() else {})}

    def add(self, kind: str, **entry: Any) -> int:
        """Add an entry and give its number."""
        content = self.read()
        number = sum(len(content[each]) for each in EMPTY) + 1
        content[kind] = [*content[kind], {"number": number, "id": number, **entry}]
        self.write(content)
        return number

    def change(self, kind: str, number: int, **fields: Any) -> None:
        """Change an entry."""
        content = self.read()
        content[kind] = [entry | fields if entry["number"] == number else entry for entry in content[kind]]
        self.write(content)

    def write(self, content: dict[str, list[dict[str, Any]]]) -> None:
        """Put everything there."""
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / "forge.json").write_text(json.dumps(content, indent=1), "utf-8")

    @property
    def may_write(self) -> bool:
        """Whether the token of the run may write to pull requests."""
        return not (self.root / "read-only").exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A command line: the words, and the flags with their values."""

    plain: tuple[str, ...]
    flags: dict[str, str]
    fields: dict[str, str]


_BARE: Final = ("--paginate", "--silent", "--edit-last", "--create-if-none")
_FIELDS: Final = ("-f", "-F", "--field")


def words(arguments: Sequence[str]) -> Words:
    """The words of a command line; every flag but a few has a value."""
    plain: list[str] = []
    flags, fields = {}, {}
    stream = iter(arguments)
    for word in stream:
        if word in _FIELDS:
            name, _, text = next(stream).partition("=")
            fields[name] = Path(text[1:]).read_text("utf-8") if text.startswith("@") else text
        elif word.startswith("-"):
            flags[word] = "" if word in _BARE else next(stream)
        else:
            plain.append(word)
    return Words(plain=tuple(plain), flags=flags, fields=fields)


def answer(kept: Kept, asked: Words) -> Any:
    """What `gh` prints, before `--jq`; raises `PermissionError` where the token does not suffice."""
    match asked.plain:
        case ("auth", "setup-git"):
            return None
        case ("run", "download", run):
            shutil.copytree(kept.root / "artifacts" / run / asked.flags["--name"], asked.flags["--dir"])
        case ("workflow", "run", name):
            kept.add("started", workflow=name, inputs=asked.fields)
        case ("api", path):
            return _api(kept, path.split("/")[3:], asked)
        case ("pr" | "issue" as kind, verb, *number):
            return _spoken(kept, "pulls" if kind == "pr" else "issues", verb, number, asked.flags)
        case _:
            raise NotImplementedError(asked.plain)
    return None


def _api(kept: Kept, path: Sequence[str], asked: Words) -> Any:
    content, method = kept.read(), asked.flags.get("--method", "GET")
    if method != "GET" and not kept.may_write:
        raise PermissionError("Resource not accessible by integration (HTTP 403)")
    match (method, *path):
        case ("GET", "pulls"):
            return [each for each in content["pulls"] if each["label"] == asked.fields["head"] and each["open"]]
        case ("GET", "commits", commit, "pulls"):
            return [each for each in content["pulls"] if commit in (each["merge_commit_sha"], each["head"]["sha"])]
        case ("GET", "issues", number, "comments"):
            return [each for each in content["comments"] if each["issue"] == int(number)]
        case ("POST", "issues", number, "comments"):
            kept.add("comments", issue=int(number), user=BOT, body=asked.fields["body"])
        case ("PATCH", "issues", "comments", number):
            kept.change("comments", int(number), body=asked.fields["body"])
        case _:
            raise NotImplementedError(method, path)
    return None


def _spoken(kept: Kept, kind: str, verb: str, number: Sequence[str], flags: dict[str, str]) -> Any:
    given = {name.removeprefix("--"): text for name, text in flags.items() if name in ("--title", "--head", "--base")}
    body = {"body": Path(flags["--body-file"]).read_text("utf-8")} if "--body-file" in flags else {}
    match verb:
        case "list":
            head = flags.get("--head")
            return [each for each in kept.read()[kind] if each["open"] and each.get("head") == head]
        case "create":
            kept.add(kind, open=True, **given, **body)
        case "edit":
            kept.change(kind, int(number[0]), **given, **body)
        case "comment":
            ours = [each for each in kept.read()["comments"] if each["issue"] == int(number[0]) and each["user"] == BOT]
            if ours:
                kept.change("comments", ours[-1]["number"], **body)
            else:
                kept.add("comments", issue=int(number[0]), user=BOT, **body)
        case "close":
            kept.change(kind, int(number[0]), open=False, said=flags["--comment"])
        case _:
            raise NotImplementedError(verb)
    return None


def main() -> int:
    """Answer one call, and write it down."""
    kept = Kept(root=Path(os.environ["FORGE"]))
    kept.root.mkdir(parents=True, exist_ok=True)
    asked = words(sys.argv[1:])
    with (kept.root / "calls.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(sys.argv[1:]) + "\n")
    try:
        found = answer(kept, asked)
    except PermissionError as error:
        sys.stderr.write(f"gh: {error}\n")
        return 1
    if found is not None:
        text = json.dumps(found)
        query = ["jq", "--raw-output", asked.flags.get("--jq", ".")]
        sys.stdout.write(subprocess.run(query, input=text, capture_output=True, text=True, check=True).stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
