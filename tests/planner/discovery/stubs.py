"""Shared libraries that answer as a table says: built with cc, so that the real Python packages can be run on them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# One function for all: on the machines that tests run on, the first six whole numbers and pointers of any call arrive
# as six words, whatever the call's own parameters are.
PROLOGUE = r"""
#include <string.h>
typedef unsigned long word;
struct key { int position; word value; };
struct out { int position; unsigned length; const unsigned char *bytes; };
struct row { int keys; const struct key *key; int code; int outs; const struct out *out; };
static int answer(const struct row *rows, int count, const word *given, int otherwise) {
    for (int i = 0; i < count; i++) {
        int fits = 1;
        for (int k = 0; k < rows[i].keys; k++) {
            word value = rows[i].key[k].value, have = given[rows[i].key[k].position];
            fits = fits && (value ? (unsigned)have == (unsigned)value : have == 0 || (unsigned)have == 0);
        }
        if (!fits) continue;
        for (int o = 0; o < rows[i].outs; o++)
            memcpy((void *)given[rows[i].out[o].position], rows[i].out[o].bytes, rows[i].out[o].length);
        return rows[i].code;
    }
    return otherwise;
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one function returns for arguments that fit: a status, and bytes at the pointers it was given.

    `keys` pairs positions of arguments with their values, `outs` positions with what is written there. The first answer
    that fits counts.
    """

    function: str
    keys: tuple[tuple[int, int], ...] = ()
    code: int = 0
    outs: tuple[tuple[int, bytes], ...] = ()


def build(folder: Path, library: str, answers: Iterable[Answer], *, otherwise: int, also: Iterable[str] = ()) -> Path:
    """Build a library with the functions of `answers` and those in `also`; what fits no answer gets `otherwise`."""
    folder.mkdir(parents=True, exist_ok=True)
    by_function: dict[str, list[Answer]] = {name: [] for name in also}
    for answer in answers:
        by_function.setdefault(answer.function, []).append(answer)
    source = folder / f"{library}.c"
    source.write_text(PROLOGUE + "\n".join(_function(name, rows, otherwise) for name, rows in by_function.items()))
    compiler = shutil.which("cc")
    assert compiler is not None, "these tests need a C compiler: install gcc"
    target = folder / library
    subprocess.run([compiler, "-shared", "-fPIC", "-O0", "-w", "-o", str(target), str(source)], check=True)
    return target


def _function(name: str, rows: list[Answer], otherwise: int) -> str:
    parts = [_row(name, number, row) for number, row in enumerate(rows)]
    table = ",".join(f"{{{len(r.keys)},{name}_k{n},{r.code},{len(r.outs)},{name}_o{n}}}" for n, r in enumerate(rows))
    parts.append(f"static const struct row {name}_rows[] = {{{table or '{0}'}}};")
    parts.append(
        f"int {name}(word a, word b, word c, word d, word e, word f) {{ word given[] = {{a,b,c,d,e,f}}; "
        f"return answer({name}_rows, {len(rows)}, given, {otherwise}); }}"
    )
    return "\n".join(parts)


def _row(name: str, number: int, row: Answer) -> str:
    keys = ",".join(f"{{{position},{value}ul}}" for position, value in row.keys) or "{0}"
    lines = [f"static const struct key {name}_k{number}[] = {{{keys}}};"]
    outs = []
    for position, content in row.outs:
        lines.append(f"static const unsigned char {name}_b{number}_{position}[] = {{{','.join(map(str, content))}}};")
        outs.append(f"{{{position},{len(content)},{name}_b{number}_{position}}}")
    lines.append(f"static const struct out {name}_o{number}[] = {{{','.join(outs) or '{0}'}}};")
    return "\n".join(lines)
