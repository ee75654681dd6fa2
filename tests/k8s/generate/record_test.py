"""Tests what informer/k8s/generate records of a server and of Go modules, without them.

   record_test.py PROJECT
"""
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(sys.argv.pop(1)) / "informer/k8s/generate"))
import defaults  # noqa: E402
import messages  # noqa: E402
import openapi  # noqa: E402
import resources  # noqa: E402
import schemas  # noqa: E402
import selection  # noqa: E402
from model import KINDS, Kind, Model  # noqa: E402

WIDGET = "io.k8s.api.shop.v1.Widget"
WIDGET_KIND = Kind("shop/v1", "Widget", "widgets", "Namespaced")
SCHEMAS = {
    WIDGET: {"x-kubernetes-group-version-kind": [{"group": "shop", "version": "v1", "kind": "Widget"}],
             "properties": {"spec": {"allOf": [{"$ref": "#/components/schemas/io.k8s.api.shop.v1.Spec"}]},
                            "metadata": {"type": "object"}}},
    "io.k8s.api.shop.v1.Spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
}
PROTO = """
package k8s.io.api.shop.v1;
message Spec {
  // Size of the widget.
  optional int32 size = 1;
  optional int32 weight = 5;
  repeated string tags = 2;
  map<string, k8s.io.apimachinery.pkg.api.resource.Quantity> limits = 3;
  optional Inner inner = 4;
}
message Inner {
}
message Unused {
}
"""
GO = """
type Spec struct {
	Size   int32             `json:"size,omitempty" protobuf:"varint,1,opt,name=size"`
	Weight *int32            `json:"weight,omitempty" protobuf:"varint,5,opt,name=weight"`
	Tags   []string          `json:"labels" protobuf:"bytes,2,rep,name=tags"`
	Inner  `json:",inline" protobuf:"bytes,4,opt,name=inner"`
}
"""
QUANTITY = "package k8s.io.apimachinery.pkg.api.resource;\nmessage Quantity {\n  optional string string = 1;\n}\n"


class FakeServer:
    def __init__(self, documents):
        self.documents = documents

    def get(self, path):
        return self.documents[path]

    def version(self):
        return "v1.99.0"

    def columns(self, path):
        return [{"priority": 0, "type": "string", "format": "name", "name": f"Name in {path}"}]


def select(**values):
    """Replaces values of selection.py during a test."""
    return mock.patch.multiple(selection, **{"TYPED_KINDS": {}, "UNSERVED_KINDS": {}, "VIRTUAL_KINDS": [],
                                             "SERVED_GROUP_VERSIONS": ["shop/v1"], "FURTHER_MESSAGES": []} | values)


def resource(name, **values):
    return {"name": name, "kind": "Widget", "singularName": "widget", "namespaced": True, "verbs": list("12345678")} | values


class RecordTest(unittest.TestCase):
    def test_openapi_has_the_types_and_roots_of_each_document(self):
        server = FakeServer({"openapi/v3/apis/shop/v1": {"components": {"schemas": SCHEMAS}}})
        with select():
            text = openapi.record(server)
        self.assertEqual(json.loads(text)["documents"], {"apis/shop/v1": [WIDGET]})
        self.assertEqual(openapi.read(text), ("v1.99.0", SCHEMAS))

    def test_openapi_has_all_kinds_of_a_type_that_is_in_several_documents(self):
        def document(*kinds):
            return {"components": {"schemas": {"Options": {KINDS: list(kinds), "type": "object"}}}}
        server = FakeServer({"openapi/v3/apis/a/v1": document("A", "B"), "openapi/v3/apis/b/v1": document("B", "C")})
        with select(SERVED_GROUP_VERSIONS=["a/v1", "b/v1"]):
            self.assertEqual(openapi.read(openapi.record(server))[1], {"Options": {KINDS: ["A", "B", "C"], "type": "object"}})
            server.documents["openapi/v3/apis/b/v1"]["components"]["schemas"]["Options"]["type"] = "string"
            with self.assertRaises(SystemExit):
                openapi.record(server)

    def test_resources_have_their_names_subresources_and_columns(self):
        server = FakeServer({"apis/shop/v1": {"resources": [
            resource("widgets", shortNames=["wi", "w"]), resource("widgets/status"), resource("widgets/proxy"),
            resource("bindings")]}})
        with select():
            text = resources.record(server)
        self.assertEqual(text.splitlines()[-2:], ["shop/v1 Widget widgets widget Namespaced short=wi,w subresources=status",
                                                  " 0 string name Name in apis/shop/v1/widgets"])
        self.assertEqual(resources.read(text), [WIDGET_KIND])

    def test_the_scope_of_a_kind_that_is_not_served_is_compared_with_the_server(self):
        server = FakeServer({"apis/shop/v1": {"resources": [resource("widgets")]}})
        with select(UNSERVED_KINDS={("shop/v1", "Widget"): ("widgets", "Cluster")}), self.assertRaises(SystemExit):
            resources.record(server)

    def test_messages_have_the_numbers_of_protobuf_and_the_names_of_json(self):
        with tempfile.TemporaryDirectory() as folder, select(FURTHER_MESSAGES=["shop.v1.Spec"]):
            for name, text in (("api@v0.99.0/generated.proto", PROTO), ("api@v0.99.0/types.go", GO),
                               ("apimachinery@v0.99.0/generated.proto", QUANTITY)):
                path = pathlib.Path(folder, name)
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            text = messages.record(folder, "v1.99.0", [])
        self.assertEqual([line for line in text.splitlines() if not line.startswith("#")], [
            "resource.Quantity", " 1 string string", "shop.v1.Inner", "shop.v1.Spec", " 1 size int32 -", " 5 weight int32",
            " 2 labels [string]", " 3 limits {resource.Quantity}", " 4 . Inner"])


class SchemasTest(unittest.TestCase):
    def test_optional_fields_that_can_be_empty_and_merged_fields_are_marked(self):
        texts = {"type": "array", "items": {"type": "string"}}
        fields = {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}, "i": {"type": "string"},
                  "l": texts, "m": texts, "t": {"type": "string", "format": "byte"},
                  "spec": {"allOf": [{"$ref": "#/components/schemas/io.k8s.api.shop.v1.Spec"}],
                           "x-kubernetes-map-type": "granular"}}
        types = SCHEMAS | {WIDGET: SCHEMAS[WIDGET] | {"properties": fields, "required": ["c"]}}
        pointers = messages.pointers("# comment\nshop.v1.Widget\n 1 a string -\n 2 b string\n 3 c string\n 4 t bytes\n"
                                     " 5 . Inner\n 6 l [string]\n 7 m [string]\nshop.v1.Inner\n 1 i string\n")
        with select(UNOMITTED_LISTS={("shop.v1.Widget", "l")}):
            text = schemas.text(Model("v1.99.0", types, [WIDGET_KIND]), pointers)
        self.assertEqual(text[text.index("Widget\n"):].splitlines(), [
            "Widget", " a string", " b string ?", " c string !", " i string ?", " l [string] ?", " m [string]", " spec Spec:granular",
            " t bytes"])


class DefaultsTest(unittest.TestCase):
    def test_a_default_of_an_unknown_type_or_field_is_an_error(self):
        with select():
            model = Model("v1.99.0", SCHEMAS, [WIDGET_KIND])
        defaults.check("# comment\nSpec\n size 1\nWidget.spec\n size 2\n", model)
        unknown = "Spec\n colour 1\nGadget\n size 1\nWidget.spec\n colour 1\nWidget.status\n size 1\n"
        self.assertEqual(list(defaults.unknown_names(unknown, model)),
                         ["Spec.colour", "Gadget", "Widget.spec.colour", "Widget.status"])


if __name__ == "__main__":
    unittest.main()
