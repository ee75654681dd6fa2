"""The types that become C++ structs, and their members. The rules:

- A member has the name of its JSON field without a leading "$". A name that C++ reserves gets a trailing
  underscore; an underscore replaces each other character that C++ does not allow.
- `metadata` is the first member; the others are in alphabetical order, as designators must be.
- A required scalar is a plain member; any other number or boolean is a std::optional. Times are always
  optional, and so are the required numbers of a status, because an empty status is not written.
- A string, list or map is a plain member, which is omitted when it is empty. selection.py lists the strings
  for which empty and absent differ.
- A struct is a plain member if it is required, or if it is no pointer in Go, which the documents show
  by the default {}; then it is omitted if nothing in it is set. Any other struct is a k8s::Optional.
- A list of structs is a k8s::List, any other list a std::vector.
"""
import functools
import re

import selection
from model import META, closure, folder_of, short_name

RESERVED = {"and", "case", "class", "continue", "default", "delete", "enum", "export", "linux", "namespace", "not",
            "operator", "or", "private", "protected", "public", "register", "static", "stdin", "stdout",
            "switch", "template", "this", "typename", "union", "unix", "using", "virtual", "volatile", "xor"}
OBJECT_META = META + "ObjectMeta"
# Types that are written by hand: class and header.
VALUE_TYPES = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": ("Quantity", "quantity.hpp"),
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": ("IntOrString", "int_or_string.hpp"),
    META + "Time": ("Time", "time.hpp"),
    META + "MicroTime": ("MicroTime", "time.hpp"),
    META + "Duration": ("Duration", "duration.hpp"),
}
# Types that are written by hand because they have several forms in JSON.
CRD = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."
UNIONS = {CRD + "JSONSchemaPropsOrArray", CRD + "JSONSchemaPropsOrBool", CRD + "JSONSchemaPropsOrStringArray"}
RAW_TYPES = {"RawExtension", "JSON", "FieldsV1"}
NUMBERS = {"int32": "std::int32_t", "int64": "std::int64_t", "double": "double", None: "std::int64_t"}
# The beginnings of the types that are omitted when they are empty.
TEXT_TYPES = ("std::string", "Bytes")
CONTAINERS = ("std::vector", "List<", "std::map")


def member_name(field):
    name = re.sub(r"[^A-Za-z0-9_]", "_", field.name.lstrip("$"))
    return name + "_" if name in RESERVED else name


def is_raw(name):
    return bool(name) and short_name(name) in RAW_TYPES


def is_struct(name):
    return bool(name) and name not in VALUE_TYPES and name not in UNIONS and name != OBJECT_META and not is_raw(name)


def is_list_of_structs(value):
    return bool(value.elements) and is_struct(value.elements.reference)


def namespace_of(folder):
    return folder.replace("/", "::")


def qualified_name(name):
    """Returns "apps::v1::Deployment"."""
    return namespace_of(folder_of(name)) + "::" + short_name(name)


class Structs:
    """The structs by the names of their types. A type that is not a struct has a C++ class that is written by hand."""

    def __init__(self, model):
        self.model = model

    @functools.cache
    def members(self, name):
        """Returns the fields of a struct in the order of its members."""
        without = ("apiVersion", "kind") if name in self.model.typed_kinds else ()
        fields = [field for field in self.model.types[name].fields.values() if field.name not in without]
        return sorted(fields, key=lambda field: (field.name != "metadata", member_name(field).lower()))

    @functools.cache
    def references(self, name):
        """Returns the structs that the members of a struct name."""
        return [other for field in self.members(name) for other in field.value.references() if is_struct(other)]

    @functools.cache
    def is_recursive(self, name):
        return name in closure(self.references(name), self.references)

    def type_of(self, owner, field):
        """Returns the C++ type of a member."""
        name, base = field.value.reference, self.type_of_value(owner, field.value)
        if name in UNIONS:
            return f"Optional<{base}>"
        if is_struct(name):
            return base if self.is_plain_struct(owner, field) else f"Optional<{base}>"
        if is_raw(name) or name == OBJECT_META:
            return base
        if base.startswith(CONTAINERS) or base in TEXT_TYPES:
            key = (folder_of(owner), short_name(owner), field.name)
            return f"std::optional<{base}>" if key in selection.STRINGS_WITH_MEANINGFUL_EMPTY_TEXT else base
        plain = field.required and base not in ("Time", "MicroTime") and owner not in self.model.status_types
        return base if plain else f"std::optional<{base}>"

    def is_plain_struct(self, owner, field):
        """Whether a member of the type of a struct is no k8s::Optional."""
        name = field.value.reference
        if name == owner or self.is_recursive(name):
            return False
        if owner in self.model.status_types and field.required:
            return not self.is_always_written(name)
        if field.required:
            return True
        if field.default != {}:
            return False
        # A plain struct with numbers that are always written would never be omitted.
        return field.name in ("spec", "status") or not self.is_always_written(name)

    def is_always_written(self, name):
        """Whether the struct has a member that is never omitted."""
        return not all(self.is_omitted_if_empty(name, field) for field in self.members(name))

    def is_omitted_if_empty(self, owner, field):
        type_name = self.type_of(owner, field)
        return (type_name.startswith((*TEXT_TYPES, *CONTAINERS, "std::optional", "Optional<", "RawJson"))
                or self.is_optional_struct(owner, field))

    def is_optional_struct(self, owner, field):
        """Whether the member is a plain struct that is omitted if nothing in it is set."""
        name = field.value.reference
        return name == OBJECT_META or is_struct(name) and not field.required and self.is_plain_struct(owner, field)

    def type_of_value(self, owner, value):
        if value.reference:
            return self.type_of_reference(owner, value.reference)
        if value.elements:
            template = "List" if is_list_of_structs(value) else "std::vector"
            return f"{template}<{self.type_of_value(owner, value.elements)}>"
        if value.map_values:
            return f"std::map<std::string, {self.type_of_value(owner, value.map_values)}>"
        if value.kind in ("integer", "number"):
            return NUMBERS[value.format]
        if value.kind == "string":
            return "Bytes" if value.format == "byte" else "std::string"
        return {"object": "RawJson", "boolean": "bool"}[value.kind]

    @staticmethod
    def type_of_reference(owner, name):
        if name in VALUE_TYPES:
            return VALUE_TYPES[name][0]
        if name == OBJECT_META:
            return "ObjectMeta"
        if is_raw(name):
            return "RawJson"
        return short_name(name) if folder_of(name) == folder_of(owner) else qualified_name(name)
