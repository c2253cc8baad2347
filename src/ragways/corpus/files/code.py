"""Source code, by symbols: each class, function and method is a section with its qualified name (`Store.put`), the
comment before it and its code as it stands. What stands outside them comes first, with imports cut short.

One table has for each language its grammar (tree-sitter) and which nodes are symbols; everything else is common.
Nested functions stay in the code of the one they belong to. A file that is too large to be parsed is read as lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from ragways.core.text import normal_lines, one_line
from ragways.core.types import Document
from ragways.corpus.builder import TextBuilder
from ragways.corpus.source import LoadOptions, SourceFile, read_text

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_MAX_PARSED = 1_000_000
_MAX_LINE = 20_000
"""Characters; beyond that it is data or made by a machine, and grammars take long to make sense of it."""
_MAX_BETWEEN = 5
"""Nodes between a symbol and its members: the body, a condition, a decorator."""
_MAX_DEPTH = 12
_MAX_IMPORTS = 12
_LONG_BLOCK = 60
"""Lines of code that stay together; more are cut at blank lines."""


@dataclass(frozen=True, slots=True)
class _Language:
    """A grammar, and its nodes by what they are: `groups` hold members, `functions` are not looked into."""

    module: str
    entry: str
    groups: frozenset[str]
    functions: frozenset[str]
    imports: frozenset[str]


_JS = "function_declaration generator_function_declaration method_definition variable_declarator"
_TS_GROUPS = "class_declaration abstract_class_declaration interface_declaration internal_module"
_TS = f"{_JS} type_alias_declaration enum_declaration function_signature"
_C = "function_definition type_definition enum_specifier"
_TABLE = (  # name, suffixes, module and entry of the grammar; then nodes: groups, functions, imports
    ("python", ".py .pyi", "python", "language", "class_definition", "function_definition",
     "import_statement import_from_statement future_import_statement"),
    ("javascript", ".js .mjs .cjs .jsx", "javascript", "language", "class_declaration", _JS, "import_statement"),
    ("typescript", ".ts .mts .cts", "typescript", "language_typescript", _TS_GROUPS, _TS, "import_statement"),
    ("tsx", ".tsx", "typescript", "language_tsx", _TS_GROUPS, _TS, "import_statement"),
    ("java", ".java", "java", "language",
     "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration",
     "method_declaration constructor_declaration", "import_declaration"),
    ("go", ".go", "go", "language", "", "function_declaration method_declaration type_spec", "import_declaration"),
    ("rust", ".rs", "rust", "language", "impl_item trait_item mod_item",
     "function_item struct_item enum_item union_item macro_definition", "use_declaration"),
    ("c", ".c", "c", "language", "struct_specifier", _C, "preproc_include"),
    ("cpp", ".h .cc .cpp .cxx .hpp .hh .hxx", "cpp", "language",
     "class_specifier struct_specifier namespace_definition", _C, "preproc_include using_declaration"),
    ("csharp", ".cs", "c_sharp", "language",
     "namespace_declaration class_declaration struct_declaration interface_declaration record_declaration",
     "method_declaration constructor_declaration enum_declaration delegate_declaration operator_declaration",
     "using_directive"),
    ("ruby", ".rb", "ruby", "language", "class module", "method singleton_method", ""),
    ("php", ".php", "php", "language_php",
     "class_declaration interface_declaration trait_declaration enum_declaration",
     "function_definition method_declaration", "namespace_use_declaration"),
    ("shell", ".sh .bash", "bash", "language", "", "function_definition", ""),
)  # fmt: skip
_LANGUAGES = {
    name: _Language(module, entry, *(frozenset(each.split()) for each in (groups, functions, imports)))
    for name, _, module, entry, groups, functions, imports in _TABLE
}
_SUFFIXES = {suffix: name for name, suffixes, *_ in _TABLE for suffix in suffixes.split()}
_WRAPPERS = frozenset(("decorated_definition", "export_statement", "template_declaration", "lexical_declaration",
                       "variable_declaration", "type_declaration", "ambient_declaration", "declaration"))  # fmt: skip
_BEFORE = frozenset(("attribute_item", "decorator", "annotation", "marker_annotation"))
_VALUES = frozenset(("arrow_function", "function_expression", "function", "generator_function", "class"))


@dataclass(slots=True)
class _Symbol:
    """A stretch of lines, first and last counted from 0, with those of its members taken out of it when written."""

    name: str
    first: int
    last: int
    members: list[_Symbol] = field(default_factory=list)


def load_code(file: SourceFile, options: LoadOptions) -> Iterator[Document]:
    source, metadata = read_text(file, options.max_bytes)
    name = _SUFFIXES[file.path.suffix.lower()]
    lines = list(normal_lines(source.removeprefix("\ufeff")))
    whole, imports = _Symbol("", 0, len(lines) - 1), set[int]()
    if len(source) <= _MAX_PARSED and max(map(len, lines), default=0) <= _MAX_LINE:
        # Lines as they were counted here, and no byte that the grammar's own decoding could stumble over.
        root = _parser(name).parse("\n".join(lines).encode("utf-8", "replace")).root_node
        whole.members, imports = _symbols(root, _LANGUAGES[name])
    builder = TextBuilder(options.max_text, language=name)
    _write(builder, lines, whole, imports, 1)
    yield builder.document(file.key, file.key, "code", {"language": name, **metadata})


@cache
def _parser(name: str) -> Parser:
    from tree_sitter import Language, Parser

    language = _LANGUAGES[name]
    return Parser(Language(getattr(import_module(f"tree_sitter_{language.module}"), language.entry)()))


# Finding symbols


def _symbols(root: Node, language: _Language) -> tuple[list[_Symbol], set[int]]:
    """The symbols of a file, members inside their groups, and the lines of its imports."""
    top = _Symbol("", -1, root.end_point[0] + 1)
    imports: set[int] = set()
    pending = [(child, top, 0, 0) for child in reversed(root.named_children)]
    while pending:
        node, owner, between, depth = pending.pop()
        if node.type in language.imports:
            imports.update(range(node.start_point[0], node.end_point[0] + 1))
            continue
        group = node.type in language.groups
        found = _symbol(node, owner) if group or node.type in language.functions else None
        if found is not None:
            owner.members.append(found)
            owner, between, depth = found, 0, depth + 1
            if not group or depth > _MAX_DEPTH:
                continue
        if between <= _MAX_BETWEEN and node.type not in language.functions:
            pending.extend((child, owner, between + 1, depth) for child in reversed(node.named_children))
    return top.members, imports


def _symbol(node: Node, owner: _Symbol) -> _Symbol | None:
    """The node as a symbol, with the comments before it. None where it has no name, or no lines of its own."""
    name = _name(node)
    if not name or (owner.members and node.start_point[0] <= owner.members[-1].last):
        return None
    outer = node
    while outer.parent is not None and outer.parent.type in _WRAPPERS:
        outer = outer.parent
    first = outer.start_point[0]
    before = outer.prev_sibling
    while before is not None and ("comment" in before.type or before.type in _BEFORE):
        # Rust's line comments end at the start of the next line.
        if before.end_point[0] - (before.end_point[1] == 0) < first - 1:
            break
        first, before = before.start_point[0], before.prev_sibling
    least = owner.members[-1].last + 1 if owner.members else owner.first + 1
    if node.start_point[0] < least or outer.end_point[0] > owner.last:
        return None
    qualified = f"{owner.name}.{name}" if owner.name else name
    return _Symbol(qualified, max(first, least), outer.end_point[0] - (outer.end_point[1] == 0))


def _name(node: Node) -> str:
    if node.type in ("struct_specifier", "class_specifier", "enum_specifier") and not node.child_by_field_name("body"):
        return ""
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        if value is None or value.type not in _VALUES:
            return ""
    named = node.child_by_field_name("name") or node.child_by_field_name(
        "type" if "impl" in node.type else "declarator"
    )
    for _ in range(8):  # C: a pointer to a function that returns a pointer …
        inner = named.child_by_field_name("declarator") if named is not None else None
        if inner is None:
            break
        named = inner
    text = _text(named).split("<", 1)[0].replace("::", ".")
    receiver = node.child_by_field_name("receiver")
    if receiver is not None:  # Go: func (s *Store) Put(…)
        text = f"{_text(receiver).strip('()').split('[', 1)[0].split()[-1].lstrip('*')}.{text}"
    return one_line(text, 120)


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


# Writing them


def _write(builder: TextBuilder, lines: list[str], symbol: _Symbol, imports: set[int], level: int) -> None:
    """A heading, the symbol's own lines, then its members. Groups are nested no deeper than they were found."""
    if symbol.name:
        builder.at(line=symbol.first + 1)
        builder.titled(symbol.name, min(level, 6))
    own: list[int] = []
    here = symbol.first
    for member in symbol.members:
        own.extend(range(here, member.first))
        here = member.last + 1
    own.extend(range(here, min(symbol.last + 1, len(lines))))
    brought = [] if symbol.name else [number for number in own if number in imports]
    _write_code(builder, lines, [number for number in own if number not in imports] if brought else own)
    if brought:
        builder.at(line=brought[0] + 1)
        shown = [lines[number] for number in brought[:_MAX_IMPORTS]]
        builder.preformatted("\n".join([*shown, "…"] if len(brought) > _MAX_IMPORTS else shown))
    for member in symbol.members:
        _write(builder, lines, member, imports, level + 1)


def _write_code(builder: TextBuilder, lines: list[str], numbers: list[int]) -> None:
    """Lines as they stand, in one piece where they are few."""
    blocks: list[list[int]] = [[]]
    for number in numbers:
        if lines[number].strip():
            blocks[-1].append(number)
        elif len(numbers) > _LONG_BLOCK and blocks[-1]:
            blocks.append([])
    for block in filter(None, blocks):
        builder.at(line=block[0] + 1)
        builder.preformatted("\n".join(lines[number] for number in block))
