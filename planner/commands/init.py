"""`planner init`: a repository of specs in one command, with what checks, plans and applies it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from planner.commands import console, options
from planner.diagnostics import SpecError, UsageError, did_you_mean, quoted
from planner.exits import Exit

if TYPE_CHECKING:
    from planner.specset import SpecSet
    from planner.starter import Crew, Fleet

_FROM: Final = click.option(
    "--from", "sources", multiple=True, metavar="FILE", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Begin with these specs, as discover or import wrote them, instead of an example.",
)  # fmt: skip
_CI: Final = click.option(
    "--ci", type=click.Choice(["github", "gitlab", "none"]), default="github", show_default=True,
    help="Whose pipelines plan and apply changes.",
)  # fmt: skip
_PLATFORM: Final = click.option(
    "--platform", metavar="OWNER", help="Who answers for hardware, quotas and rules, e.g. @acme/platform."
)
_OURS: Final = ("ci.yml", "release.yml")
"""Workflows of the planner itself."""
_QUESTIONS: Final = {
    "name": ("The name of the cluster", "dc1"),
    "back_end": ("What runs it (kubernetes, slurm or compose)", "kubernetes"),
    "gpus": ("Devices of a node, as MODEL:COUNT (planner show catalog lists the models)", "h100-sxm5-80gb:8"),
    "nodes": ("The names of its nodes, as a host list", "gpu-[01-04]"),
    "cpus": ("CPU cores of a node (empty: not planned)", ""),
    "memory": ("Memory of a node, e.g. 1Ti (empty: not planned)", ""),
    "teams": ("Teams, each as NAME or NAME=OWNER", "research"),
    "platform": ("Who answers for hardware, quotas and rules, e.g. @acme/platform (empty: nobody yet)", ""),
}


@options.verb(
    "init",
    "Begin a repository of specs.",
    "planner init fleet",
    "planner init fleet --gpus h100-sxm5-80gb:8 --nodes 'gpu-[01-04]' --team vision --platform @acme/platform",
    "planner init fleet --from dc1.yaml --from teams.yaml --ci gitlab",
    options=(
        click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path(), required=False),
        _FROM,
        click.option("--name", metavar="NAME", help="The name of the cluster.  [default: dc1]"),
        click.option(
            "--backend", "back_end", type=click.Choice(["kubernetes", "slurm", "compose"]),
            help="What runs it.  [default: kubernetes]",
        ),
        click.option("--gpus", metavar="MODEL:COUNT", help="The devices of a node, e.g. mi300x:8."),
        click.option("--nodes", metavar="HOSTS", help="The names of the nodes, e.g. 'gpu-[01-04]'."),
        click.option("--cpus", metavar="N", help="CPU cores of a node."),
        click.option("--memory", metavar="SIZE", help="Memory of a node, e.g. 1Ti."),
        click.option(
            "--team", "teams", multiple=True, metavar="NAME[=OWNER]",
            help="A team, and who answers for it.  [default: research]",
        ),
        _PLATFORM, _CI,
    ),
)  # fmt: skip
def command(folder: Path, sources: tuple[Path, ...], ci: str, colour: str, **answers: Any) -> Exit:
    """Write specs, workflows, CODEOWNERS and hooks into FOLDER (default: here); files that exist are left as they are.

    On a terminal, what no flag says is asked for. With --from, specs that exist are taken over instead.
    """
    from planner import pipeline
    from planner.starter import Ci, around, owners, policy, specs
    from planner.starter import pipeline as pipelines

    wanted = answers if sources else _answered(answers)
    platform = wanted["platform"] or ""
    _require_owner(platform)
    if sources:
        files, crews = _taken(sources, policy())
    else:
        crews = _crews(wanted["teams"])
        files = specs(_fleet(wanted), crews)
    files |= around(pipeline.planner_version()) | _schemas()
    files |= pipelines(_shipped(), Ci(ci), pipeline.planner_version())
    if platform:
        files["CODEOWNERS" if ci == Ci.GITLAB else ".github/CODEOWNERS"] = owners(platform, crews)
    _write(folder, files)
    _tell_next(folder, platform)
    return Exit.OK


def _answered(given: Mapping[str, Any]) -> dict[str, Any]:
    """What flags say, and for the rest what somebody at the terminal answers, or what goes without saying."""
    asks, answers = sys.stdin.isatty(), dict(given)
    for key, (question, usual) in _QUESTIONS.items():
        if answers[key] in (None, ()):
            if not asks and key in ("gpus", "nodes"):
                raise UsageError(f"--{key} is needed: {question.lower()}, e.g. --{key} '{usual}'; or --from FILE")
            told = click.prompt(question, default=usual, err=True, show_default=bool(usual)) if asks else usual
            answers[key] = tuple(told.replace(",", " ").split()) if key == "teams" else told
    return answers


def _crews(words: Iterable[str]) -> tuple[Crew, ...]:
    from planner.starter import Crew

    pairs = [word.partition("=") for word in words]
    for _, _, owner in pairs:
        _require_owner(owner)
    return tuple(Crew(name=_name("--team", name), owner=owner) for name, _, owner in pairs)


def _require_owner(word: str) -> None:
    from planner.starter import is_owner

    if word and not is_owner(word):
        raise UsageError(f"{quoted(word)} is no owner; write @user, @group/team or a mail address")


def _name(flag: str, text: str) -> str:
    from planner.names import parse_name

    try:
        return parse_name(text)
    except ValueError as error:
        raise UsageError(f"{flag}: {error}") from None


def _fleet(wanted: Mapping[str, Any]) -> Fleet:
    from planner import catalog, hosts, units
    from planner.spec.backend import BackendType
    from planner.starter import Fleet

    model, _, count = wanted["gpus"].partition(":")
    known = [accelerator.slug for accelerator in catalog.load().accelerators]
    if model not in known:
        raise UsageError(f"--gpus: there is no model {quoted(model)}; {did_you_mean(model, known)}")
    try:
        if wanted["memory"]:
            units.Memory.parse(wanted["memory"])
        return Fleet(
            cluster=_name("--name", wanted["name"]),
            backend=BackendType(wanted["back_end"]),
            nodes=wanted["nodes"],
            node_count=len(hosts.expand(wanted["nodes"])),
            model=model,
            gpus=_count("--gpus", count),
            cpus=_count("--cpus", wanted["cpus"]) if wanted["cpus"] else None,
            memory=wanted["memory"],
        )
    except ValueError as error:
        raise UsageError(str(error)) from None


def _count(flag: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= 10_000:
        raise UsageError(f"{flag}: {quoted(text)} is no count; write for example 8")
    return int(text)


def _taken(sources: tuple[Path, ...], policy: str) -> tuple[dict[str, str], tuple[Crew, ...]]:
    """Specs that exist, checked as a whole, with a Policy where they have none; and their teams."""
    from planner.source import read_tree
    from planner.specset import load
    from planner.starter import Crew, is_owner

    found = tuple(file for path in sources for file in read_tree(path))
    result = load(found)
    if result.specset is None:
        raise SpecError(result.diagnostics)
    named = {f"specs/{Path(file.path).name}": file.text.decode() for file in found}
    if len(named) < len(found):
        raise UsageError("two of the files have the same name")
    crews = tuple(Crew(name=team.name, owner=next(filter(is_owner, team.owners), "")) for team in result.specset.teams)
    return (named if _has_policy(result.specset) else {**named, "specs/policy.yaml": policy}), crews


def _has_policy(specset: SpecSet) -> bool:
    try:
        return bool(specset.place(f"policy/{specset.policy.name}"))
    except KeyError:
        return False


def _schemas() -> dict[str, str]:
    from planner.spec.schema import json_schemas

    return {"specs/schemas/planner.schema.json": json_schemas()["planner.schema.json"]}


def _shipped() -> dict[str, str]:
    """The pipelines of this distribution by their paths: a wheel has them inside, elsewhere they are beside it."""
    import planner

    package = Path(planner.__file__).parent
    root = package / "shipped" if (package / "shipped").is_dir() else package.parent
    found = [path for kind in ("workflows", "actions") for path in (root / ".github" / kind).rglob("*.yml")]
    paths = [path for path in found if path.name not in _OURS]
    paths += [root / "action.yml", root / "docs" / "gitlab-ci.yml"]
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in sorted(paths)}


def _write(folder: Path, files: Mapping[str, str]) -> None:
    from planner import lockfile

    for path, text in sorted(files.items()):
        target = folder / path
        if target.exists():
            console.out(f"kept   {path}\n")
        else:
            lockfile.write(target, text)
            console.out(f"wrote  {path}\n")


def _tell_next(folder: Path, platform: str) -> None:
    if not platform:
        console.err("note: without --platform OWNER no CODEOWNERS is written, so that anybody may edit quotas\n")
    place = "" if folder == Path() else f"cd {folder} && "
    console.err(f"next: {place}git init && git add . && git commit -m 'Begin the fleet' && planner plan\n")
