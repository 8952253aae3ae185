"""Specs as YAML that people keep: new documents, and edits of documents without touching their comments."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.resolver import VersionedResolver
from ruamel.yaml.scalarstring import DoubleQuotedScalarString
from ruamel.yaml.tag import Tag

from planner import yamlio
from planner.catalog import Catalog
from planner.diagnostics import PlannerError, SpecError
from planner.discovery.merge import Fleet
from planner.discovery.reconcile import Edit, Reconciled, reconcile
from planner.discovery.spec import accelerators, cluster
from planner.source import SourceFile

_BREAK: Final = re.compile(r"(?m)^---(?=\s|$)")
_TEXT: Final = Tag(suffix="tag:yaml.org,2002:str")
# What the language of specs would not read as text, or people might not.
_NOT_TEXT: Final = re.compile(r"-?[0-9][0-9._]*|true|false|null|yes|no|on|off|~", re.IGNORECASE)
_FLOW_WIDTH: Final = 110
_LISTED: Final = frozenset({"pools"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The text that a file should hold, and in words how it differs from what the file holds."""

    text: str
    changes: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()


class _AsWritten(VersionedResolver):
    """Takes every scalar for text, so that none is written back in another spelling than it was read."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        return _TEXT if kind is ScalarNode else super().resolve(kind, value, implicit)


def fresh(
    fleet: Fleet, name: str, back_end: str, catalog: Catalog, options: Mapping[str, str] = MappingProxyType({})
) -> str:
    """A fleet as a new file: its Cluster, and proposed Accelerators."""
    return text_of((cluster(fleet, name, back_end, catalog, options), *accelerators(fleet)))


def text_of(documents: Iterable[Mapping[str, Any]]) -> str:
    """Documents of plain values as YAML."""
    return "---\n".join(_dumped(document) for document in documents)


def appended(before: SourceFile | None, documents: Sequence[Mapping[str, Any]]) -> Written:
    """Documents at the end of a file that does not have them yet; those that it has stay, and what differs is told."""
    there = [_value(part, before.path) for part in _parts(before)] if before is not None else []
    by_name = {(value["kind"], value["name"]): value for value in there if isinstance(value, dict) and "name" in value}
    added = [one for one in documents if (one["kind"], one["name"]) not in by_name]
    held = [
        f"{one['kind'].lower()}/{one['name']}: {key}: {old.get(key, 'not stated')} -> {value}"
        for one in documents
        if (old := by_name.get((one["kind"], one["name"]))) is not None
        for key, value in one.items()
        if old.get(key) != value
    ]
    text = before.text.decode() if before is not None else ""
    parts = [*([text.rstrip() + "\n"] if text.strip() else []), *map(_dumped, added)]
    changes = tuple(f"{one['kind'].lower()}/{one['name']}: new" for one in added)
    return Written(text="---\n".join(parts) if added else text, changes=changes, held_back=tuple(held))


def merged(
    before: SourceFile | None,
    fleet: Fleet,
    name: str,
    back_end: str,
    catalog: Catalog,
    options: Mapping[str, str] = MappingProxyType({}),
) -> Written:
    """A fleet written into a file: into the Cluster of that name where there is one, else as further documents.

    Other documents stay byte for byte. Raises `SpecError` when the file is not well-formed, and `PlannerError` when a
    comment would be lost.
    """
    if before is None or not before.text.strip():
        return Written(text=fresh(fleet, name, back_end, catalog, options), changes=(f"cluster/{name}: new",))
    parts = _parts(before)
    documents = [_value(part, before.path) for part in parts]
    at = next((index for index, value in enumerate(documents) if _is(value, "Cluster", name)), None)
    there = [value.get("name") for value in documents if isinstance(value, dict) and value.get("kind") == "Accelerator"]
    added = [one for one in accelerators(fleet) if one["name"] not in there]
    changes = [f"accelerator/{one['name']}: new" for one in added]
    result = Reconciled()
    if at is None:
        added.insert(0, cluster(fleet, name, back_end, catalog, options))
        changes.insert(0, f"cluster/{name}: new")
    else:
        result = reconcile(documents[at], fleet, back_end, catalog)
        parts[at] = _edited(parts[at], result.edits)
        changes = [*result.changes, *changes]
    text = "".join(parts)
    for document in added:
        text = f"{text.rstrip()}\n---\n{_dumped(document)}"
    return Written(text=text, changes=tuple(changes), held_back=result.held_back)


def _parts(file: SourceFile) -> list[str]:
    """The documents of a file with everything around them; joined again they are the file."""
    _, faults = yamlio.read(file)
    if faults:
        raise SpecError(faults)
    text = file.text.decode("utf-8-sig").replace("\r\n", "\n")
    starts = [0, *(match.start() for match in _BREAK.finditer(text) if match.start())]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _value(part: str, path: str) -> Any:
    documents, _ = yamlio.read(SourceFile(path, part.encode()))
    return documents[0].value if documents else None


def _is(value: Any, kind: str, name: str) -> bool:
    return isinstance(value, dict) and value.get("kind") == kind and value.get("name") == name


def _edited(part: str, edits: Sequence[Edit]) -> str:
    """One document with its edits: a changed field keeps its place, a new one goes to the end of its pool."""
    if not edits:
        return part
    yaml = _yaml(part)
    try:
        document = yaml.load(part)
        for edit in edits:
            _put(document, edit)
        text = _dump(yaml, document)
    except YAMLError as error:
        raise PlannerError(f"the document cannot be edited: {' '.join(str(error).split())}") from error
    text = part[: part.index("\n") + 1] + text if part.startswith("---") and not text.startswith("---") else text
    _keep_comments(part, text)
    return text


def _keep_comments(before: str, after: str) -> None:
    for line in before.split("\n"):
        comment = re.search(r"(?:^|\s)(#.*)$", line)
        if comment and comment[1].strip() not in after:
            raise PlannerError(
                f"the comment '{comment[1].strip()}' would be lost: move it out of the brackets that it stands in, "
                "or write to another file"
            )


def _put(document: Any, edit: Edit) -> None:
    holder = document
    for step in edit.path[:-1]:
        holder = holder[step]
    last = edit.path[-1]
    value = _node(edit.value, last if isinstance(last, str) else "pool")
    if isinstance(holder, list) and isinstance(last, int) and last >= len(holder):
        holder.append(value)
    elif isinstance(holder, CommentedMap) and last not in holder:
        _append(holder, last, value)
    else:
        holder[last] = value


def _append(holder: CommentedMap, key: Any, value: Any) -> None:
    """Add a key at the end of a mapping, but before the comment that follows the mapping."""
    keys = list(holder)
    trailing = holder.ca.items.get(keys[-1]) if keys else None
    holder[key] = value
    if trailing is not None and trailing[2] is not None and "\n" in trailing[2].value.rstrip("\n"):
        # ruamel hangs what follows a mapping on its last key: the line's own comment stays, the rest moves along.
        own, _, rest = trailing[2].value.partition("\n")
        holder.ca.items[key] = [None, None, type(trailing[2])(f"\n{rest}", trailing[2].start_mark, None), None]
        trailing[2].value = f"{own}\n"


def _node(value: Any, key: str) -> Any:
    """A plain value as what is written: small things on one line, pools and their longer parts in blocks."""
    match value:
        case Mapping():
            node = CommentedMap({_scalar(name): _node(each, str(name)) for name, each in value.items()})
            if key not in {"", "pool"} and _length(value) <= _FLOW_WIDTH:
                node.fa.set_flow_style()
            return node
        case str() | bool() | int():
            return _scalar(value)
        case Iterable():
            items = CommentedSeq([_node(each, "pool" if key in _LISTED else "item") for each in value])
            if key not in _LISTED and _length(value) <= _FLOW_WIDTH:
                items.fa.set_flow_style()
            return items
    raise TypeError(f"no such value in a spec: {type(value).__name__}")


def _length(value: Any) -> int:
    match value:
        case Mapping():
            return sum(_length(name) + _length(each) + 4 for name, each in value.items())
        case str() | bool() | int():
            return len(str(value))
    return sum(_length(each) + 2 for each in value)


def _scalar(value: Any) -> str:
    """A scalar as text, as `_AsWritten` takes all; quoted where text would be read as a number or a truth value."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
    text = str(value)
    return DoubleQuotedScalarString(text) if not text or _NOT_TEXT.fullmatch(text) else text


def _dumped(document: Mapping[str, Any]) -> str:
    return _dump(_yaml(""), _node(dict(document), ""))


def _dump(yaml: Any, document: Any) -> str:
    stream = io.StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()


def _yaml(text: str) -> Any:
    """A writer that indents as `text` does."""
    yaml = YAML(typ="rt", pure=True)
    yaml.Resolver = _AsWritten
    yaml.preserve_quotes = True
    yaml.width = 1 << 16
    yaml.brace_single_entry_mapping_in_flow_sequence = True
    nested = re.search(r"(?m)^( *)[^\s#-].*:[ \t]*(?:#.*)?\n\1( +)[^\s#-]", text)
    listed = re.search(r"(?m)^( *)[^\s#-].*:[ \t]*(?:#.*)?\n(?:\s*#.*\n)*\1( *)-( +)", text)
    offset, gap = (len(listed[2]), len(listed[3])) if listed else (2, 1)
    yaml.indent(mapping=len(nested[2]) if nested else 2, sequence=offset + 1 + gap, offset=offset)
    return yaml
