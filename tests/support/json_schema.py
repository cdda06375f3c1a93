"""Holds a JSON value against a JSON Schema, as far as our published schemas go; what it does not know it refuses."""

from typing import Any

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
SAID = {
    "$defs", "$id", "$ref", "$schema", "additionalProperties", "anyOf", "const", "default", "description", "enum",
    "format", "items", "maxItems", "maxLength", "maximum", "minLength", "minimum", "pattern", "properties", "required",
    "title", "type",
}  # fmt: skip


def faults(value: Any, schema: Any, root: Any = None, where: str = "$") -> list[str]:
    """Return what is wrong with a value; nothing when it is valid."""
    root = schema if root is None else root
    if schema is True:
        return []
    assert set(schema) <= SAID, f"{set(schema) - SAID} is not understood here"
    if "$ref" in schema:
        return faults(value, _resolved(root, schema["$ref"]), root, where)
    if "anyOf" in schema:
        tried = [faults(value, one, root, where) for one in schema["anyOf"]]
        return [] if any(not one for one in tried) else [f"{where}: {value!r} is none of {schema['anyOf']}"]
    return [*_plain(value, schema, where), *_inner(value, schema, root, where)]


def _resolved(root: Any, reference: str) -> Any:
    found = root
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found


def _plain(value: Any, schema: Any, where: str) -> list[str]:
    types = schema.get("type", [])
    wanted = [types] if isinstance(types, str) else types
    wrong = []
    if wanted and not any(_is(value, one) for one in wanted):
        wrong.append(f"{where}: {value!r} is not {types}")
    if "const" in schema and value != schema["const"]:
        wrong.append(f"{where}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        wrong.append(f"{where}: {value!r} is none of {schema['enum']}")
    if "minimum" in schema and not wrong and value < schema["minimum"]:
        wrong.append(f"{where}: {value!r} is less than {schema['minimum']}")
    return wrong


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, TYPES[kind])


def _inner(value: Any, schema: Any, root: Any, where: str) -> list[str]:
    wrong = []
    if isinstance(value, list) and "items" in schema:
        for number, one in enumerate(value):
            wrong += faults(one, schema["items"], root, f"{where}[{number}]")
    if isinstance(value, dict):
        known, more = schema.get("properties", {}), schema.get("additionalProperties", True)
        wrong += [f"{where}: {name} is missing" for name in schema.get("required", []) if name not in value]
        for name, one in value.items():
            if name in known:
                wrong += faults(one, known[name], root, f"{where}.{name}")
            elif more is False:
                wrong.append(f"{where}: {name} is not known")
            else:
                wrong += faults(one, more, root, f"{where}.{name}")
    return wrong
