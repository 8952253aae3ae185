"""Templates, and the quoting that lets a value arrive as exactly that value: one jinja2 environment for each language.

Quoting is the environment's work, never the template's: whatever stands in `{{ }}` passes through the `finalize` of the
template's language. The language follows from the template's name:

    *.yaml.j2     JSON scalars and flow sequences, which YAML reads back unchanged
    *.compose.j2  the same, with `$` doubled because Compose interpolates
    *.sh.j2       words in single quotes where needed; a sequence becomes several words
    *.sbatch.j2   bare words of a small alphabet and integers, since `#SBATCH` lines know no safe quoting

Floats are refused everywhere: `1e+16` is text to a YAML reader. What a filter or a global function returns is quoted
again, so that none exist; templates share text by `include` and `extends`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from jinja2 import Environment, Template

Finalize = Callable[[object], str]

# What YAML readers refuse, fold into a space or take for a line break when it stands unescaped.
_UNREADABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
# What no process can be given: the end of a C string, and halves of surrogate pairs, which are no characters.
_UNSENDABLE: Final = re.compile("[\0\ud800-\udfff]")
_BARE_WORD: Final = re.compile(r"[A-Za-z0-9_\[][A-Za-z0-9_.,:/@=+&|\[\]-]*")
_TEMPLATE_NAME: Final = re.compile(r"[a-z]+/[a-z_]+(\.[a-z0-9]+)+")


class Language(StrEnum):
    """What a template writes; the value is the ending of its name."""

    YAML = ".yaml.j2"
    COMPOSE = ".compose.j2"
    SHELL = ".sh.j2"
    SBATCH = ".sbatch.j2"


def render(template: str, /, **values: object) -> str:
    """The text of `template`: `kubernetes/job.yaml.j2` names a file in `renderers/kubernetes/templates`."""
    return _template(template).render(values)


def language_of(template: str) -> Language:
    """The language that a template's name declares."""
    for language in Language:
        if template.endswith(language):
            return language
    raise ValueError(f"the template '{template}' ends in none of {', '.join(Language)}")


def yaml_value(value: object) -> str:
    """A scalar or a sequence of scalars as JSON that every YAML reader takes back to the same value.

    Refused, as in every language, is text that no process can be given.
    """
    match value:
        case bool() | int():
            return json.dumps(value)
        case str() if _UNSENDABLE.search(value) is None:
            return _UNREADABLE.sub(_escape, json.dumps(value, ensure_ascii=False))
        case tuple() | list():
            return f"[{', '.join(yaml_value(item) for item in value)}]"
    raise _refusal(value, "YAML")


def compose_value(value: object) -> str:
    """As `yaml_value`, with each `$` doubled: Compose reads `$$` as one and anything else as a variable."""
    return yaml_value(value).replace("$", "$$")


def shell_value(value: object) -> str:
    """One shell word, or for a sequence one word an item; text that a process could not receive is refused.

    A carriage return is written as `$'\\r'`, for sbatch refuses a script that holds CR LF anywhere.
    """
    match value:
        case bool():
            pass
        case int():
            return str(value)
        case str() if _UNSENDABLE.search(value) is None:
            return shlex.quote(value).replace("\r", "'$'\\r''")
        case tuple() | list():
            return " ".join(shell_value(item) for item in value)
    raise _refusal(value, "shell")


def sbatch_value(value: object) -> str:
    """A bare word that Slurm's own scanner leaves alone: no blank, quote, backslash or `#`, no dash in front."""
    match value:
        case bool():
            pass
        case int():
            return str(value)
        case str() if _BARE_WORD.fullmatch(value):
            return value
    raise _refusal(value, "#SBATCH")


_FINALIZE: Final[Mapping[Language, Finalize]] = {
    Language.YAML: yaml_value,
    Language.COMPOSE: compose_value,
    Language.SHELL: shell_value,
    Language.SBATCH: sbatch_value,
}


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _refusal(value: object, language: str) -> TypeError:
    return TypeError(f"{type(value).__name__} {value!r:.60} cannot be written as {language}")


@cache
def _template(name: str) -> Template:
    return environment(language_of(name)).get_template(name)


@cache
def environment(language: Language) -> Environment:
    """The environment in which templates of `language` are compiled."""
    # Imported here so that commands which render nothing start without jinja2.
    from jinja2 import Environment, FunctionLoader, StrictUndefined, Undefined

    quote = _FINALIZE[language]

    def finalize(value: object) -> str:
        if isinstance(value, Undefined):
            str(value)  # raises with the name that is missing; quoting it first would hide that
        return quote(value)

    made = Environment(
        loader=FunctionLoader(_source),
        autoescape=False,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    made.filters.clear()
    made.globals.clear()
    return made


def _source(name: str) -> str | None:
    if _TEMPLATE_NAME.fullmatch(name) is None:
        return None
    folder, _, file = name.partition("/")
    return (resources.files("renderers") / folder / "templates" / file).read_text(encoding="utf-8")
