"""The types, fields and kinds of a Kubernetes version. Each file that the generator writes is derived from this model."""
import dataclasses
import functools

import selection

KINDS = "x-kubernetes-group-version-kind"  # the kinds of the objects with a schema
META = "io.k8s.apimachinery.pkg.apis.meta.v1."


def short_name(type_name):
    """Returns "Deployment" for "io.k8s.api.apps.v1.Deployment"."""
    return type_name.rpartition(".")[2]


def folder_of(type_name):
    """Returns "apps/v1" for "io.k8s.api.apps.v1.Deployment"."""
    return "/".join(type_name.split(".")[-3:-1])


def split_group_version(group_version):
    """Returns ("apps", "v1") for "apps/v1", and ("", "v1") for "v1"."""
    group, _, version = group_version.rpartition("/")
    return group, version


def path_of(group_version):
    """Returns the path below which an API server serves a group version: "apis/apps/v1" or "api/v1"."""
    return ("apis/" if "/" in group_version else "api/") + group_version


class Value:
    """What a field, an element of a list or a value of a map contains."""

    def __init__(self, schema):
        self.schema = schema
        self.kind = schema.get("type")      # "string", "array", …; None for a reference or for any value
        self.format = schema.get("format")
        self.reference = reference_of(schema)   # the name of a type, or None
        self.elements = Value(schema["items"]) if "items" in schema else None
        self.map_values = Value(schema["additionalProperties"]) if "additionalProperties" in schema else None

    def references(self):
        """Returns a list with the type that the value or its elements have, or an empty list."""
        inner = self.elements or self.map_values
        if inner:
            return inner.references()
        return [self.reference] if self.reference else []


def reference_of(schema):
    for each in [schema, *schema.get("allOf", [])]:
        if "$ref" in each:
            return each["$ref"].rpartition("/")[2]
    return None


class Field:
    """A field of a type."""

    def __init__(self, name, schema, required):
        self.name, self.schema, self.required = name, schema, required
        self.value = Value(schema)
        self.description = schema.get("description", "")
        self.default = schema.get("default")


class Type:
    """A type of the OpenAPI documents, such as "io.k8s.api.apps.v1.Deployment"."""

    def __init__(self, name, schema):
        self.name, self.schema = name, schema
        self.description = schema.get("description", "")
        required = schema.get("required", [])
        self.fields = {field: Field(field, of_field, field in required)
                       for field, of_field in sorted(schema.get("properties", {}).items())}

    def references(self):
        """Returns the names of the types that the fields have."""
        return {name for field in self.fields.values() for name in field.value.references()}

    def describes(self, group_version, kind):
        group, version = split_group_version(group_version)
        return {"group": group, "version": version, "kind": kind} in self.schema.get(KINDS, [])


def closure(names, references):
    """Returns `names` and all names that can be reached from them. references(name) returns the next ones."""
    reached, pending = set(), list(names)
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += references(name)
    return reached


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind that has a resource."""
    group_version: str
    name: str
    plural: str
    scope: str  # "Namespaced" or "Cluster"


class Model:
    """A Kubernetes version: all types by name, the kinds that kopp-apiserver serves, and the kinds with a C++ struct."""

    def __init__(self, version, schemas, served_kinds):
        self.version = version
        self.types = {name: Type(name, schema) for name, schema in sorted(schemas.items())}
        self.served_kinds = served_kinds
        known = {(kind.group_version, kind.name): kind for kind in served_kinds}
        known |= {key: Kind(*key, *rest) for key, rest in selection.UNSERVED_KINDS.items()}
        self.typed_kinds = {self.type_of_object(group_version, name).name: known[group_version, name]
                            for group_version, names in selection.TYPED_KINDS.items() for name in names}

    def type_of_object(self, group_version, kind):
        """Returns the type of the objects of a kind."""
        [found] = [each for each in self.types.values()
                   if each.describes(group_version, kind) and "metadata" in each.fields]
        return found

    @functools.cached_property
    def status_types(self):
        """The names of the types of the field "status" of the typed kinds."""
        return {name for kind in self.typed_kinds if "status" in self.types[kind].fields
                for name in self.types[kind].fields["status"].value.references()}
