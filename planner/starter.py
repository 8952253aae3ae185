"""The first files of a repository of specs: a small fleet, what checks and applies it, and who answers for what."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from planner.spec.backend import BackendType

_OWNER: Final = re.compile(r"@[A-Za-z0-9][A-Za-z0-9-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?|[^\s@#]+@[^\s@#]+")
_OWN_ACTION: Final = re.compile(r"uses: \./(?= |$)", re.MULTILINE)
_OWN_SOURCES: Final = re.compile(r'(pip install [^\n]*) (?:\.|"\$GITHUB_ACTION_PATH")$', re.MULTILINE)
_HEAD: Final = "# yaml-language-server: $schema={up}schemas/planner.schema.json\napiVersion: planner/v1\nkind: {kind}\n"


class Ci(StrEnum):
    """Who runs the checks of the repository."""

    GITHUB = "github"
    GITLAB = "gitlab"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """One team: its name, and who answers for it (a user, a group or a mail address; may be empty)."""

    name: str
    owner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """One pool of equal nodes; `nodes` is a host list, `memory` per node as specs write it, both may be unknown."""

    cluster: str
    backend: BackendType
    nodes: str
    node_count: int
    model: str
    gpus: int
    cpus: int | None = None
    memory: str = ""


def is_owner(text: str) -> bool:
    """Whether `text` can stand in CODEOWNERS: `@user`, `@group/team` or a mail address."""
    return _OWNER.fullmatch(text) is not None


def specs(fleet: Fleet, crews: tuple[Crew, ...]) -> dict[str, str]:
    """The specs of a small fleet, by path: each team is guaranteed an equal part of it and may borrow the rest."""
    return {
        "specs/policy.yaml": policy(),
        f"specs/clusters/{fleet.cluster}.yaml": _cluster(fleet),
        "specs/teams/teams.yaml": "---\n".join(map(_team, crews)),
        "specs/teams/quotas.yaml": "---\n".join(_quota(crew, fleet, len(crews)) for crew in crews),
        f"specs/jobs/{crews[0].name}/hello.yaml": _job(crews[0], fleet),
    }


def policy() -> str:
    """A Policy that says the least; all else has a default."""
    return _HEAD.format(kind="Policy", up="") + (
        "name: default\n"
        "horizon: {length: 7d}             # from the time of the commit, or --at\n"
        "timezone: UTC                     # of times without an offset\n"
        "currency: USD\n"
        "safety: {max_moved: 10%, max_stopped: 10%}   # of the running devices; more needs somebody to say so\n"
    )


def _cluster(fleet: Fleet) -> str:
    host = (f"    cpus: {fleet.cpus}\n" if fleet.cpus else "") + (
        f"    memory: {fleet.memory}\n" if fleet.memory else ""
    )
    return _HEAD.format(kind="Cluster", up="../") + (
        f"name: {fleet.cluster}\n"
        f"backend: {fleet.backend}\n"
        "pools:\n"
        f"  - name: {_pool(fleet)}\n"
        f"    nodes: {json.dumps(fleet.nodes)}\n"
        f"    gpus: {{model: {fleet.model}, count: {fleet.gpus}}}\n"
        f"{host}"
    )


def _pool(fleet: Fleet) -> str:
    return fleet.model.partition("-")[0]


def _team(crew: Crew) -> str:
    owners = f"owners: [{json.dumps(crew.owner)}]\n" if crew.owner else ""
    return _HEAD.format(kind="Team", up="../") + f"name: {crew.name}\n{owners}"


def _quota(crew: Crew, fleet: Fleet, count: int) -> str:
    return _HEAD.format(kind="Quota", up="../") + (
        f"name: {crew.name}\nteam: {crew.name}\n"
        f"gpus: {{pool: {fleet.cluster}/{_pool(fleet)}}}\n"
        f"guaranteed: {fleet.node_count * fleet.gpus // count}\n"
    )


def _job(crew: Crew, fleet: Fleet) -> str:
    return _HEAD.format(kind="Job", up="../../") + (
        f"name: hello\nteam: {crew.name}\n"
        "image: docker.io/library/busybox:1\n"
        "command: [echo, hello]\n"
        f"gpus: {{count: 1, model: {fleet.model}}}\n"
        "duration: 1h\n"
    )


def owners(platform: str, crews: Iterable[Crew]) -> str:
    """CODEOWNERS: what everybody depends on belongs to the platform team, jobs to their teams."""
    everybody = ("/.github/", "/specs/policy.yaml", "/specs/clusters/", "/specs/teams/")
    rows = [(path, platform) for path in everybody]
    rows += [(f"/specs/jobs/{crew.name}/", crew.owner) for crew in crews if crew.owner]
    width = max(len(path) for path, _ in rows)
    return "# Quotas, hardware and rules are the platform team's; jobs are their teams'.\n" + "".join(
        f"{path:<{width}}  {owner}\n" for path, owner in rows
    )


def around(version: str) -> dict[str, str]:
    """What stands beside the specs whoever runs the checks: hooks, what git leaves out, and how to go on."""
    return {
        ".pre-commit-config.yaml": (
            "repos:\n"
            "  - repo: local\n"
            "    hooks:\n"
            "      - id: planner-validate\n"
            "        name: planner validate\n"
            "        entry: planner validate\n"
            "        language: python\n"
            f'        additional_dependencies: ["gpu-fleet-planner=={version}"]\n'
            "        files: ^specs/\n"
            "        pass_filenames: false\n"
        ),
        ".gitignore": "/plan/\n/build/\n/state/\n",
        "README.md": (
            "# The fleet\n\n"
            "What hardware there is, who may use how much of it, and what must run: `specs/`.\n\n"
            "```sh\n"
            "planner validate          # every mistake at once\n"
            "planner plan              # what runs where and when\n"
            "planner diff              # what my edits change for everybody\n"
            "```\n"
        ),
    }


def pipeline(shipped: Mapping[str, str], ci: Ci, version: str) -> dict[str, str]:
    """The workflows and actions of this distribution, by their paths there, as files of a repository that installs it.

    Whatever they do with the checkout they are in, they do with the released `version` instead.
    """
    match ci:
        case Ci.NONE:
            return {}
        case Ci.GITLAB:
            return {".gitlab-ci.yml": _released(shipped["docs/gitlab-ci.yml"], version)}
        case Ci.GITHUB:
            return dict(_github(shipped, version))


def _github(shipped: Mapping[str, str], version: str) -> Iterator[tuple[str, str]]:
    for path, text in sorted(shipped.items()):
        if path.startswith(".github/"):
            yield path, _released(text, version)
        elif path == "action.yml":
            yield ".github/actions/plan/action.yml", _released(text, version)


def _released(text: str, version: str) -> str:
    return _OWN_SOURCES.sub(
        rf'\1 "gpu-fleet-planner=={version}"', _OWN_ACTION.sub("uses: ./.github/actions/plan", text)
    )
