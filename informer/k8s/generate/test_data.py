"""The files with which tests/k8s checks each field of each struct."""
import json

from cpp import CPP_HEAD, HEAD, include_lines
from model import META, folder_of, short_name
from structs import CRD, OBJECT_META, is_raw, qualified_name

SCHEMA = {"$ref": "apiextensions/v1/JSONSchemaProps"}
RAW = {"raw": [1, "text"]}
EXAMPLES = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "1500m",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "25%",
    META + "Time": "2024-01-31T12:00:00Z",
    META + "MicroTime": "2024-01-31T12:00:00.123456Z",
    META + "Duration": "1h0m0s",
    CRD + "JSONSchemaPropsOrBool": SCHEMA,
    CRD + "JSONSchemaPropsOrArray": SCHEMA,
    CRD + "JSONSchemaPropsOrStringArray": ["text"],
    OBJECT_META: {"name": "name", "labels": {"key": "value"}},
}
SCALARS = {"string": "text", "boolean": True, "integer": 7, "number": 1.5, "object": RAW, None: RAW}


def files(structs, layout):
    """Returns {path: text}."""
    return {"tests/k8s/examples.json": examples(structs, layout), "tests/k8s/all_kinds.hpp": all_kinds(layout)}


def examples(structs, layout):
    """Returns a value for each field of each struct. {"$ref": name} stands for a struct."""
    lines = [f'"//": {json.dumps(HEAD[3:-1])}']
    for name in sorted(layout.header_of, key=key):
        values = {field.name: example(field.value) for field in structs.members(name)}
        lines.append(f"{json.dumps(key(name))}: {json.dumps(values)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def key(name):
    """Returns "apps/v1/Deployment"."""
    return folder_of(name) + "/" + short_name(name)


def example(value):
    if value.reference:
        return EXAMPLES.get(value.reference) or (RAW if is_raw(value.reference) else {"$ref": key(value.reference)})
    if value.elements:
        return [example(value.elements)]
    if value.map_values:
        return {"key": example(value.map_values)}
    return "aGVsbG8=" if value.format == "byte" else SCALARS[value.kind]


def all_kinds(layout):
    headers = [header for header in layout.headers if header.kind]
    macros = [f' \\\n  macro(kopp::k8s::{qualified_name(header.kind)}, "{key(header.kind)}")' for header in headers]
    return (CPP_HEAD + "#pragma once\n\n" + include_lines(header.include for header in headers)
            + "\n// Calls macro(type, key of examples.json) for each kind.\n#define KOPP_K8S_ALL_KINDS(macro)"
            + "".join(macros) + "\n")
