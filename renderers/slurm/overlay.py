"""A job's own batch script with the plan laid over it: what the plan decides replaces it, all else stays as it was."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DIRECTIVE: Final = re.compile(r"#SBATCH\s+(?P<rest>\S.*)")
_WORD: Final = r"""(?P<value>(?:"[^"]*"|'[^']*'|\\#|[^\s"'#\\])+)"""
_END: Final = r"\s*(?:\s#.*)?"
# One word a value: sbatch reads every further word of a line as an option of its own.
_LONG: Final = re.compile(rf"--(?P<name>[a-z][a-z-]*)(?:(?:=|\s+){_WORD})?{_END}")
_SHORT: Final = re.compile(rf"-(?P<name>[A-Za-z])(?:\s*{_WORD})?{_END}")
_SHELL: Final = re.compile(r"[/ ](ba|da|k|z)?sh\b")
_SHORT_NAMES: Final = {
    "A": "account",
    "C": "constraint",
    "D": "chdir",
    "G": "gpus",
    "H": "hold",
    "J": "job-name",
    "L": "licenses",
    "M": "clusters",
    "N": "nodes",
    "W": "wait",
    "a": "array",
    "b": "begin",
    "c": "cpus-per-task",
    "d": "dependency",
    "e": "error",
    "n": "ntasks",
    "o": "output",
    "p": "partition",
    "q": "qos",
    "t": "time",
    "w": "nodelist",
    "x": "exclude",
}
_SHORT_FLAGS: Final = frozenset("HIOQVWhksuv")
"""Options of one letter that take no value: what follows would be further options."""
DECIDED: Final = frozenset(
    {
        *("account", "array", "begin", "clusters", "comment", "deadline", "dependency", "exclude", "exclusive", "gpus"),
        *("gpus-per-node", "gpus-per-socket", "gpus-per-task", "gres", "hold", "job-name", "mem", "mem-per-cpu"),
        *("mem-per-gpu", "no-requeue", "nodefile", "nodelist", "nodes", "partition", "qos", "requeue", "switches"),
        *("test-only", "time", "time-min", "tres-per-task", "wait", "wrap"),
    }
)
"""Options that the plan decides: those of the script go, and where they said something else that is told."""
YIELDING: Final = frozenset({"constraint", "cpus-per-task", "export", "ntasks-per-node", "open-mode", "signal"})
"""Options of ours that the script's own take the place of."""
_TASKS: Final = frozenset({"ntasks", "ntasks-per-node", "ntasks-per-gpu", "ntasks-per-socket"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One directive of a script: the option by its long name, its value, and the line as it stands."""

    name: str
    value: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlaid:
    """The script, and what of the template did not agree with the plan, one sentence each."""

    text: str
    conflicts: tuple[str, ...] = ()


def overlay(head: str, exports: str, template: bytes) -> Overlaid:
    """Lay a head of ours (a first line, then directives) over a script, and into one of a shell lines of `export`.

    Raises `Unsupported` where the script cannot be read, or has several components.
    """
    first, *lines = _lines(template)
    directives, rest = _split(lines)
    theirs = tuple(map(_read, directives))
    ours = tuple(_read(line) for line in head.splitlines()[1:])
    given = {line.name for line in theirs}
    kept = [line.text for line in theirs if line.name not in DECIDED]
    laid = [line.text for line in ours if not _yields(line.name, given)]
    added = ["", *exports.rstrip("\n").split("\n")] if _SHELL.search(first) else []
    return Overlaid(
        text="\n".join([first, *laid, *kept, *added, *rest]) + "\n",
        conflicts=tuple(_conflicts(theirs, {line.name: line.value for line in ours})),
    )


def _lines(template: bytes) -> list[str]:
    try:
        text = template.decode()
    except UnicodeDecodeError:
        raise Unsupported("its template is not UTF-8 text") from None
    if "\r" in text or "\0" in text:
        raise Unsupported("its template has line ends of Windows or NUL bytes, which sbatch refuses")
    lines = text.rstrip("\n").split("\n")
    if not lines[0].startswith("#!"):
        raise Unsupported("its template is no script: the first line must name what runs it, such as #!/bin/bash")
    return lines


def _split(lines: list[str]) -> tuple[list[str], list[str]]:
    """The directives, and all other lines in their order; sbatch reads no directive after the first command."""
    ends = next((index for index, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))
    head, rest = lines[:ends], lines[ends:]
    directives = [line for line in head if line.startswith("#SBATCH")]
    if any(re.fullmatch(r"#SBATCH\s+(hetjob|packjob)\s*", line) for line in directives):
        raise Unsupported("its template has several components, over which nothing can be laid")
    return directives, [*(line for line in head if not line.startswith("#SBATCH")), *rest]


def _read(text: str) -> Line:
    match = _DIRECTIVE.fullmatch(text)
    option = match and (_LONG.fullmatch(match["rest"]) or _SHORT.fullmatch(match["rest"]))
    if not option:
        raise Unsupported(f"'{text}' of its template is not one option; write one a line, as #SBATCH --name=value")
    name = _SHORT_NAMES.get(option["name"], option["name"])
    if name not in DECIDED and any(decided.startswith(name) for decided in DECIDED if len(name) > 1):
        raise Unsupported(f"'{text}' of its template shortens the name of an option; write it in full")
    if option["name"] in _SHORT_FLAGS and option["value"]:
        raise Unsupported(f"'{text}' of its template holds several options; write one a line")
    return Line(name=name, value=option["value"] or "", text=text)


def _yields(name: str, given: Iterable[str]) -> bool:
    """Whether a directive of ours makes room for one of the script's: cores of a task depend on how many there are."""
    theirs = frozenset(given)
    counted = name in _TASKS or name == "cpus-per-task"
    return name in YIELDING and (name in theirs or (counted and bool(theirs & _TASKS)))


def _conflicts(theirs: Iterable[Line], ours: dict[str, str]) -> Iterator[str]:
    for line in theirs:
        if line.name in DECIDED and ours.get(line.name) != line.value:
            planned = f"planned is --{line.name}={ours[line.name]}" if line.name in ours else "the plan decides this"
            yield f"--{line.name} of its script is not used: it says {line.value or 'so'}, {planned}"
