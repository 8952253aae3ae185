"""The strict subset of YAML 1.2 in which specs are written, and where in a file everything stands.

Only `true`, `false`, `null`, `~` and whole decimal numbers are more than text: `NO`, `10:30`, `0755`, `1e3` and `1.10`
stay as they are written. Tags, merge keys and repeated keys are refused; size, depth, nodes and aliases are limited.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import yaml

from planner.diagnostics import Diagnostic, Place, Related, Severity, quoted
from planner.source import FILE_BYTES, SourceFile

DEPTH: Final = 32
NODES: Final = 50_000
ALIASES: Final = 100

_PLAIN: Final = "plain"
_NON_SPECIFIC: Final = "!"
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_WORDS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None, "~": None, "": None}
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_HOST_LIST: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\[[0-9,\s-]+\][A-Za-z0-9._,\[\]-]*")

Path: TypeAlias = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document: its plain value, and its nodes to find places in."""

    file: str
    index: int
    value: Any
    node: yaml.Node = field(repr=False, compare=False)
    lines: Sequence[str] = field(repr=False, compare=False)


class _Loader(yaml.CSafeLoader):
    """libyaml without any knowledge of types: what is not quoted is told apart by `_scalar`."""

    def resolve(self, kind: type[yaml.Node], value: str | None, implicit: tuple[bool, bool] | bool) -> str:
        return _PLAIN


def read(file: SourceFile, *, every_key: bool = False) -> tuple[tuple[Document, ...], tuple[Diagnostic, ...]]:
    """Read all documents of a file. Documents with errors are left out of the first part of the result.

    Keys that begin with `x-` are passed over, unless `every_key` says that the file is not a spec.
    """
    text, fault = _decoded(file)
    if fault:
        return (), (fault,)
    lines = text.split("\n")
    nodes: list[yaml.Node | None] = []
    faults: list[Diagnostic] = []
    loader = _Loader(text)
    try:
        while loader.check_node():
            nodes.append(loader.get_node())
    except yaml.YAMLError as error:
        faults.append(_syntax(error, file.path, lines))
    finally:
        loader.dispose()
    documents: list[Document] = []
    for index, node in enumerate(node for node in nodes if node is not None):
        builder = _Builder(file.path, lines, every_key=every_key)
        value = builder.build(node, 1)
        faults += builder.faults
        if not builder.faults:
            documents.append(Document(file.path, index, value, node, lines))
    return tuple(documents), tuple(faults)


def rendered(text: str) -> list[Any]:
    """The documents of a text that a renderer wrote, with all their keys, as the tools that they are for read them.

    Not for specs: it keeps `x-` keys, has no limits, and takes unquoted words by the rules of YAML 1.1.
    """
    return list(yaml.load_all(text, Loader=yaml.CSafeLoader))


def _decoded(file: SourceFile) -> tuple[str, Diagnostic | None]:
    if len(file.text) > FILE_BYTES:
        summary = f"the file is larger than {FILE_BYTES >> 20} MiB"
        return "", _diagnostic("SPEC105", summary, Place(file.path, 1, 1, 1), help="split it into several files")
    try:
        text = file.text.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        place = _place_after(file.path, file.text[: error.start].decode("utf-8", "replace"))
        summary = f"the byte 0x{file.text[error.start]:02x} is not UTF-8"
        return "", _diagnostic("SPEC109", summary, place, help="save the file as UTF-8")
    if match := _CONTROL.search(text):
        place = _place_after(file.path, text[: match.start()])
        snippet = line_at(text.split("\n"), place.line)
        summary = f"the file holds the control character U+{ord(match[0]):04X}"
        return "", _diagnostic("SPEC110", summary, place, help="remove it", snippet=snippet)
    return text, None


def _place_after(path: str, before: str) -> Place:
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    return Place(path, line, column, column + 1)


class _Builder:
    """Turns the nodes of one document into plain values, and collects what the subset does not allow."""

    def __init__(self, path: str, lines: Sequence[str], *, every_key: bool = False) -> None:
        self._every_key = every_key
        self.faults: list[Diagnostic] = []
        self._path = path
        self._lines = lines
        self._nodes = 0
        self._aliases = 0
        self._seen: dict[int, Any] = {}
        self._open: set[int] = set()

    def build(self, node: yaml.Node, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > NODES:
            if self._nodes == NODES + 1:
                self._fault(
                    "SPEC107", node, f"the document has more than {NODES} nodes", "split it, or expand fewer aliases"
                )
            return None
        if node.tag != _PLAIN:
            self._fault(
                "SPEC103",
                node,
                f"the tag {quoted(_tag(node))} is not allowed",
                "remove the tag; quote a value to make it text",
            )
            return None
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if not self._enter(node, depth):
            return None
        self._open.add(id(node))
        value = self._mapping(node, depth) if isinstance(node, yaml.MappingNode) else self._sequence(node, depth)
        self._open.discard(id(node))
        return value

    def _enter(self, node: yaml.Node, depth: int) -> bool:
        if depth > DEPTH:
            self._fault("SPEC106", node, f"the document is nested more than {DEPTH} levels deep", "flatten it")
            return False
        if id(node) in self._open:
            self._fault("SPEC108", node, "an alias lies inside its own anchor", "repeat the fields instead")
            return False
        if id(node) in self._seen:
            self._aliases += 1
            if self._aliases == ALIASES + 1:
                self._fault(
                    "SPEC108",
                    node,
                    f"the document uses more than {ALIASES} aliases",
                    "use Team.defaults or repeat the fields",
                )
            return self._aliases <= ALIASES
        self._seen[id(node)] = node
        return True

    def _scalar(self, node: yaml.ScalarNode) -> str | int | bool | None:
        text: str = node.value
        if node.style is None or node.style == "":
            if text in _WORDS:
                return _WORDS[text]
            if _INTEGER.fullmatch(text):
                return int(text)
        elif (bad := _CONTROL.search(text)) is not None:
            summary = f"the text holds the control character U+{ord(bad[0]):04X}"
            self._fault("SPEC110", node, summary, "remove it; specs hold printable text, line breaks and tabs only")
        return text

    def _sequence(self, node: yaml.Node, depth: int) -> list[Any]:
        return [self.build(item, depth + 1) for item in node.value]

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[Any, Any]:
        value: dict[Any, Any] = {}
        marks: dict[Any, yaml.Node] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node)
            if key is None or (type(key) is str and key.startswith("x-") and not self._every_key):
                continue
            if key in value:
                self._repeated(key, key_node, marks[key])
            marks[key] = key_node
            value[key] = self.build(value_node, depth + 1)
        return value

    def _key(self, node: yaml.Node) -> str | int | None:
        key = self.build(node, DEPTH) if isinstance(node, yaml.ScalarNode) else None
        if type(key) is str and key != "<<":
            return key
        if type(key) is int:
            return key
        if key == "<<":
            self._fault(
                "SPEC104",
                node,
                "the merge key '<<' is not allowed",
                "repeat the fields, or put them into Team.defaults",
            )
        elif not self.faults:
            self._fault("SPEC114", node, "a key must be text", "quote it")
        return None

    def _repeated(self, key: object, node: yaml.Node, first: yaml.Node) -> None:
        place = place_of(self._path, first)
        self._fault(
            "SPEC102", node, f"the key {quoted(key)} is given twice", "remove one of them",
            related=(Related(place=place, message="first given here"),),
        )  # fmt: skip

    def _fault(self, code: str, node: yaml.Node, summary: str, help: str, related: tuple[Related, ...] = ()) -> None:
        place = place_of(self._path, node)
        self.faults.append(
            _diagnostic(code, summary, place, help=help, snippet=line_at(self._lines, place.line), related=related)
        )


def place_of(path: str, node: yaml.Node) -> Place:
    """The place of a node: all of it when it ends on its first line, else its first character."""
    start, end = node.start_mark, node.end_mark
    column = start.column + 1
    whole = end.line == start.line and (isinstance(node, yaml.ScalarNode) or _is_flow(node))
    return Place(path, start.line + 1, column, max(column + 1, end.column + 1) if whole else column + 1)


def _tag(node: yaml.Node) -> str:
    return node.tag.replace("tag:yaml.org,2002:", "!!")


def _is_flow(node: yaml.Node) -> bool:
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def line_at(lines: Sequence[str], line: int) -> str:
    """The text of a line, counted from 1; empty beyond the end."""
    return lines[line - 1] if 0 < line <= len(lines) else ""


def locate(document: Document, path: Path, *, key: bool = False) -> Place:
    """The place of the value at `path`, or of its key.

    Parts of the path that the document does not have (names of union members, fields that a short form leaves out) are
    passed over, so that the answer is the nearest place that was written down.
    """
    node, key_node = document.node, None
    missed = False
    for part in path:
        found = _child(node, part)
        missed = found is None
        if found is not None:
            key_node, node = found
    empty = isinstance(node, yaml.ScalarNode) and node.value == "" and not node.style
    if key_node is not None and ((key and not missed) or empty):
        return place_of(document.file, key_node)
    return place_of(document.file, node)


def _child(node: yaml.Node, part: str | int) -> tuple[yaml.Node | None, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key_node, value_node in node.value:
            if key_node.value == str(part):
                return key_node, value_node
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return None, node.value[part]
    return None


def written(document: Document, path: Path) -> bool:
    """Whether the document itself has every part of `path`."""
    node = document.node
    for part in path:
        found = _child(node, part)
        if found is None:
            return False
        node = found[1]
    return True


def path_text(document: Document, path: Path) -> str:
    """A path as messages show it, `variants[0].gpus`, without the parts that the document does not have."""
    node, text = document.node, ""
    for part in path:
        found = _child(node, part)
        if found is None:
            continue
        node = found[1]
        in_list = found[0] is None
        text += f"[{part}]" if in_list else f".{part}" if text else str(part)
    return text


def _syntax(error: yaml.YAMLError, path: str, lines: Sequence[str]) -> Diagnostic:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    if not isinstance(error, yaml.MarkedYAMLError) or mark is None:
        reason = str(error).split("\n", maxsplit=1)[0]
        return _diagnostic("SPEC101", f"not well-formed YAML: {reason}", Place(path, 1, 1, 2), help="write plain YAML")
    line = min(mark.line + 1, len(lines))
    text = line_at(lines, line)
    column = min(mark.column, len(text)) + 1 if mark.line < len(lines) else len(text) + 1
    code, summary, help_text = _explained(error, lines, line, column)
    noticed = Place(path, line, column, column + 1)
    if code == "SPEC112" and (host := _host_list(text, column)):
        noticed = Place(path, line, host.start() + 1, host.end() + 1)
    opened = _opening(error, path, noticed)
    related = (Related(place=noticed, message="noticed here"),) if opened and text else ()
    place = opened or noticed
    snippet = line_at(lines, place.line)
    return _diagnostic(code, summary, place, help=help_text, snippet=snippet, related=related)


def _opening(error: yaml.MarkedYAMLError, path: str, place: Place) -> Place | None:
    """Where a bracket or quote was opened that turns out on a later line not to be closed."""
    mark, context = error.context_mark, error.context or ""
    if mark is None or mark.line + 1 >= place.line or not ("flow" in context or "quoted" in context):
        return None
    return Place(path, mark.line + 1, mark.column + 1, mark.column + 2)


def _explained(error: yaml.MarkedYAMLError, lines: Sequence[str], line: int, column: int) -> tuple[str, str, str]:
    problem, context, text = error.problem or "", error.context or "", line_at(lines, line)
    if "flow" in context and _host_list(text, column):
        return "SPEC112", "a host list inside { } or [ ] needs quotes", "put quotes around it"
    if "\t" in text[: column + 1] and not text[: column - 1].strip():
        return "SPEC111", "a tab is used to indent", "indent with spaces"
    for pattern, summary, help_text in _ADVICE:
        if pattern in problem:
            return "SPEC101", summary, help_text
    return "SPEC101", f"not well-formed YAML: {problem}", f"{context}".strip()


_ADVICE: Final = (
    ("exceeded maximum nesting depth", "the document is nested too deeply", "flatten it"),
    ("mapping values are not allowed", "a ':' where no key can stand", "quote a text with ': ', or indent rightly"),
    ("expected ',' or '}'", "'{' is not closed, or a ',' is missing", "separate the entries by ',' and close with '}'"),
    ("expected ',' or ']'", "'[' is not closed, or a ',' is missing", "separate the items by ',' and close with ']'"),
    ("expected '-' indicator", "an item of the list does not begin with '-'", "mend the indentation of this line"),
    ("could not find expected ':'", "a key without ':'", "write 'key: value', with a space after the colon"),
    ("cannot start any token", "a text cannot begin with this character", "put quotes around the text"),
    ("did not find expected key", "a key cannot stand here", "mend the indentation of this line or the one before"),
    ("unexpected end of stream", "a quote is not closed", "close the quote"),
    ("undefined alias", "an alias without its anchor", "define it earlier with &, or quote a text with *"),
    ("expected <block end>", "this line does not fit the indentation above it", "align it with its neighbours"),
    ("invalid Unicode character escape", "an escape that is not a character", "write the character itself"),
    ("unknown escape character", "an escape that YAML does not know", "use single quotes, or double the backslash"),
    ("incompatible YAML document", "only YAML 1.2 and 1.1 can be read", "remove the %YAML line"),
    ("found duplicate anchor", "an anchor is defined twice", "rename one of them"),
)  # fmt: skip


def _host_list(text: str, column: int) -> re.Match[str] | None:
    return next((match for match in _HOST_LIST.finditer(text) if match.start() < column <= match.end() + 1), None)


def _diagnostic(
    code: str, summary: str, place: Place, *, help: str = "", snippet: str = "", related: tuple[Related, ...] = ()
) -> Diagnostic:
    return Diagnostic(
        code=code, severity=Severity.ERROR, summary=summary, place=place, help=help, snippet=snippet, related=related
    )  # fmt: skip
