#!/usr/bin/env python3
"""Asks a kube-apiserver what the built-in kinds are, and writes resources.txt and schemas.txt.

   kinds.py SERVER CA CERTIFICATE KEY FOLDER

Names and types alone: what the fields mean is told by Kubernetes' own reference.
"""
import json
import ssl
import sys
import urllib.request

GROUPS = ["", "apps", "batch", "coordination.k8s.io", "events.k8s.io", "rbac.authorization.k8s.io",
          "networking.k8s.io", "policy", "apiextensions.k8s.io"]
# What needs a component that kopp's server does not have, or is no object.
LEFT_OUT = {"bindings", "componentstatuses", "ipaddresses", "servicecidrs"}

RESOURCES_HEAD = """\
# Written by kinds.py from what a kube-apiserver {version} says of itself.
#
# GROUP/VERSION KIND PLURAL SINGULAR SCOPE [short=…] [categories=…] [subresources=…] [verbs=…]
#  and a line for each column of its tables: priority, type, format ("-": none), name
"""
SCHEMAS_HEAD = """\
# Written by kinds.py from the OpenAPI documents of a kube-apiserver {version}.
#
# A paragraph for each type: its name ("atomic": it is applied as one), then its fields. [T] is a list,
# atomic unless "set" or the keys of a map stand behind it. {{T}} is a map of T by name. "!": required.
# "=": the JSON of its default; "={{}}" alone is a part that is always there, if only inside the server.
"""
FORMATS = {"byte": "bytes", "date-time": "time"}
ALIASES = {"IntOrString": "int-or-string", "Quantity": "quantity", "Time": "time", "MicroTime": "micro-time",
           "JSON": "any", "JSONSchemaPropsOrArray": "any", "JSONSchemaPropsOrBool": "any",
           "JSONSchemaPropsOrStringArray": "any", "RawExtension": "object", "FieldsV1": "object"}


class Server:
    def __init__(self, address, authority, certificate, key):
        self.address = address
        self.tls = ssl.create_default_context(cafile=authority)
        self.tls.load_cert_chain(certificate, key)

    def get(self, path, accept="application/json"):
        request = urllib.request.Request(self.address + path, headers={"Accept": accept})
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self.tls))
        with opener.open(request) as answer:
            return json.load(answer)

    def columns(self, path):
        return self.get(path, "application/json;as=Table;v=v1;g=meta.k8s.io")["columnDefinitions"]


def group_path(group):
    return "api/v1" if not group else f"apis/{group}/v1"


def resource_lines(server, group):
    served = server.get("/" + group_path(group))["resources"]
    for resource in served:
        name = resource["name"]
        if "/" in name or name in LEFT_OUT:
            continue
        words = [f"{group}/v1" if group else "v1", resource["kind"], name, resource["singularName"],
                 "Namespaced" if resource["namespaced"] else "Cluster"]
        lists = {"short": resource.get("shortNames"), "categories": resource.get("categories"),
                 "subresources": [other["name"].split("/", 1)[1] for other in served
                                  if other["name"].split("/")[0] == name and "/" in other["name"]
                                  and other["name"].split("/")[1] in ("status", "scale", "finalize")],
                 "verbs": None if len(resource["verbs"]) == 8 else resource["verbs"]}
        yield " ".join(words + [f"{key}={','.join(values)}" for key, values in lists.items() if values])
        for column in server.columns(f"/{group_path(group)}/{name}"):
            yield f" {column['priority']} {column['type']} {column['format'] or '-'} {column['name']}"


class Schemas:
    def __init__(self):
        self.all, self.short = {}, {}

    def add(self, document):
        self.all.update(document["components"]["schemas"])

    def name(self, full):
        """io.k8s.api.core.v1.PodSpec is PodSpec; of types with one name, all but the first keep the group."""
        parts = full.split(".")
        if parts[-1] in ALIASES:
            return ALIASES[parts[-1]]
        return parts[-1] if self.short.setdefault(parts[-1], full) == full else ".".join(parts[-3::2])

    def reference(self, schema):
        if "$ref" in schema:
            return schema["$ref"].rsplit("/", 1)[1]
        return self.reference(schema["allOf"][0]) if "allOf" in schema else None

    def spelled(self, schema):
        to = self.reference(schema)
        if to:
            return self.name(to)
        kind = schema.get("type", "any")
        if kind == "array":
            how = schema.get("x-kubernetes-list-type", "atomic")
            keys = ",".join(schema.get("x-kubernetes-list-map-keys", []))
            return f"[{self.spelled(schema['items'])}]{'' if how == 'atomic' else keys or how}"
        if "additionalProperties" in schema:
            atomic = "atomic" if schema.get("x-kubernetes-map-type") == "atomic" else ""
            return "{" + self.spelled(schema["additionalProperties"]) + "}" + atomic
        plain = {"integer": "int64", "number": "double", "boolean": "bool"}.get(kind, kind)
        return FORMATS.get(schema.get("format"), schema.get("format")) or plain

    def field(self, name, schema, required):
        line = f" {name} {self.spelled(schema)}"
        if required:
            line += " !"
        if schema.get("default") not in (None, "", 0):
            line += " =" + json.dumps(schema["default"])
        return line

    def paragraph(self, full):
        schema = self.all[full]
        atomic = " atomic" if schema.get("x-kubernetes-map-type") == "atomic" else ""
        return [self.name(full) + atomic] + [
            self.field(name, of, name in schema.get("required", []))
            for name, of in sorted(schema.get("properties", {}).items())]

    def references(self, schema):
        if isinstance(schema, dict):
            if isinstance(schema.get("$ref"), str):  # and no field of that name
                yield self.reference(schema)
            for value in schema.values():
                yield from self.references(value)
        elif isinstance(schema, list):
            for value in schema:
                yield from self.references(value)

    def lines(self, kinds):
        wanted = [full for full, schema in sorted(self.all.items())
                  for of in schema.get("x-kubernetes-group-version-kind", [])
                  if (of["group"], of["version"], of["kind"]) in kinds]
        seen = set()
        while wanted:
            full = wanted.pop(0)
            if full in seen or full.rsplit(".", 1)[1] in ALIASES:
                continue
            seen.add(full)
            wanted += sorted(set(self.references(self.all[full])))
        for full in sorted(seen):
            self.name(full)
        for full in sorted(seen, key=self.name):
            yield from self.paragraph(full)


def main(address, authority, certificate, key, folder):
    server = Server(address, authority, certificate, key)
    version = server.get("/version")["gitVersion"]
    resources, schemas, kinds = [], Schemas(), {("autoscaling", "v1", "Scale")}
    for group in GROUPS:
        lines = list(resource_lines(server, group))
        resources += lines
        kinds |= {(group, "v1", line.split()[1]) for line in lines if not line.startswith(" ")}
        schemas.add(server.get("/openapi/v3/" + group_path(group)))
    for name, head, lines in (("resources", RESOURCES_HEAD, resources),
                              ("schemas", SCHEMAS_HEAD, schemas.lines(kinds))):
        with open(f"{folder}/{name}.txt", "w", encoding="utf-8") as file:
            file.write(head.format(version=version) + "\n".join(lines) + "\n")


main(*sys.argv[1:])
