#!/usr/bin/env python3
"""Sends the same mutated objects to two API servers and prints how the responses differ.

    differences.py REAL KOPP OBJECTS OPERATORS [--seed N] [--requests N] [--kind KIND] [--show N]
    differences.py                                           checks only that each pattern has its row

REAL and KOPP are kubeconfigs; OBJECTS and OPERATORS are Lists of objects, all as JSON. OPERATORS has those of the sample, the examples and the
tutorial. The servers should be new. differences_test.sh starts them.

Each request takes one of the objects and changes one field of it in a way that depends on the
field's value: an empty, a long or an invalid string, a number at a limit, a value of another type,
null, an unknown field, a removed or repeated element. It is sent as a dry run: as POST, as PUT, and as a patch of each
type that contains the field, or all fields.
The status, the warnings and the resulting objects must be equal, apart from values that each server
chooses itself, such as uids. A difference is explained if EXPLAINED has a pattern for the field or EXPLAINED_DIFFERENCES one for the difference;
each pattern names its row in framework/apiserver/DIFFERENCES.md.

This is a tool to look for differences, and it has no goal of zero. It exits with 1 only if, for an object of OPERATORS, one server accepts
what the other one rejects, without explanation; with 2 if the servers cannot be compared.
"""

import argparse
import base64
import collections
import copy
import functools
import http.client
import json
import pathlib
import random
import re
import ssl
import sys
import tempfile
import urllib.parse

# (regular expression for "Kind field.path", how the row in DIFFERENCES.md starts)
EXPLAINED = [
    (r"^CronJob spec\.(schedule|timeZone)|^NetworkPolicy spec", "fields of cron schedules and NetworkPolicies"),
    (r"\b(priorityClassName|priority|preemptionPolicy)$", "PriorityClasses"),
    (r"^(EndpointSlice|StorageClass|CSINode|CSIDriver|RuntimeClass|VolumeAttachment) ", "size limits of EndpointSlices"),
    (r"^CertificateSigningRequest spec\.request", "the certificate request in a CertificateSigningRequest"),
    (r"\bx-kubernetes-validations\b", "CEL rules"),
    (r"\bserviceAccount(Name)?$", "a Pod in a namespace without ServiceAccounts"),
    (r"^LimitRange spec|^ResourceQuota spec", "LimitRanges and ResourceQuotas"),
    (r"^Node spec(\.podCIDRs?\b|\.providerID)?", "podCIDRs and providerID of Nodes"),
]
# (regular expression for "Kind: what differs | real value | kopp's value | mutation | values sent", how the row in DIFFERENCES.md
# starts)
EXPLAINED_DIFFERENCES = [
    (r"^Job: \S+f:metadata \|", "managedFields of the labels that a new Job"),
    (r"^Service: \S+ .*\| .*(not in the valid range|provided IP is already allocated)", "a dry run that requests a node port"),
    (r"^Secret: warnings \|.*\btls: |^Secret: warnings \|.*(asn1|x509|PEM)", "warnings about the certificate of a Secret"),
    (r"json: cannot unmarshal number: value out of range", "the message for a number"),
    (r"^HorizontalPodAutoscaler: .*must specify at least one Policy", "the policies of a HorizontalPodAutoscaler"),
    (r"\| \"RemoteDisconnected.* is invalid: ", "requests at which the handler"),
    (r"^ControllerRevision: (\.data\b|422 data: .*field is immutable|409 \.data: )", "the data of a ControllerRevision"),
    (r"^(CronJob|DaemonSet|Deployment|Job|PersistentVolumeClaim|Pod|PodTemplate|ReplicaSet|ReplicationController|StatefulSet): warnings \|",
     "warnings about Pods, Pod templates"),
    (r"^PersistentVolume: .*must be a valid resource quantity.* \| \{", "the capacity of a PersistentVolume"),
    (r"accessor error: \S+ is of the type float64, expected int64.* \| \{", "whole numbers such as"),
    (r"^\w+: 201  / 422 .*factor MultipleOf declared for", "whole numbers such as"),
    (r"^\S+ \.\S+ \| '?(\+|\d+\.|\d+E\d)\S* \|", "the form of quantities"),
    (r"^\S+ \.\S+ \| 1e3 \| 1k \| \[.*\b1000\.0\b", "the form of quantities"),
    (r"must be less than or equal to \w+ limit of (\+|\d+\.|\d+E\d)", "the form of quantities"),
    (r"only divisor's values .* / (422|20[01])  .*\| \[.*\b1000\.0\b", "the form of quantities"),
    (r"^\w+: 20[01]  / 422 \S+ Duplicate value: .* \| \[.*(?<![\d.])\d\.0(?![\d.])", "whole numbers such as"),
    (r"^StatefulSet: (422 spec\.template\.spec\.volumes\[\]\.(name|persistentVolumeClaim)\b.*) / \1 \|",
     "the index of the volume of a claim template"),
    (r"^\w+: 422 (\S+): Invalid value: …: \1 in body must be of type \w+: … / 20[01]  \|.*\| apply patch, .*\bnull\b", "a null in an apply patch"),
    (r"error converting YAML to JSON: yaml: (found unknown escape|did not find expected hex|found invalid Unicode)",
     "escapes in YAML"),
    (r"^\S+ warnings \|.*\| \[.*unknown field", "the name of an unknown field in a warning about a strategic merge patch"),
    (r"^\S+ \.\S+ \| -?\d{16,21} \| -?\d(\.\d+)?e\+\d+ \|", "numbers of 1E15 or more"),
]
CHOSEN_BY_THE_SERVER = {"uid", "creationTimestamp", "lastPhaseTransitionTime", "lastTransitionTime", "resourceVersion", "selfLink"}
# Kinds that would change the responses to requests for other objects. They are only sent as dry runs.
NOT_STORED = {"LimitRange", "MutatingWebhookConfiguration", "ResourceQuota", "ValidatingAdmissionPolicy",
              "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"}
ALLOCATED = {"clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"}

Field = collections.namedtuple("Field", "path value")
Response = collections.namedtuple("Response", "code warnings body")


class RawJson(str):
    """JSON text that is inserted into the request as it is."""


class Server:
    def __init__(self, kubeconfig):
        cluster = kubeconfig["clusters"][0]["cluster"]
        user = kubeconfig["users"][0]["user"]
        self.address = urllib.parse.urlparse(cluster["server"])
        self.headers = {"User-Agent": "differences"}
        self.tls = ssl.create_default_context(cadata=_decoded(cluster["certificate-authority-data"]))
        if "token" in user:
            self.headers["Authorization"] = "Bearer " + user["token"]
        else:
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(_decoded(user["client-certificate-data"]) + _decoded(user["client-key-data"]))
                file.flush()
                self.tls.load_cert_chain(file.name)
        self.connection = None

    def send(self, method, path, body=b"", content_type="application/json"):
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(
                self.address.hostname, self.address.port, context=self.tls, timeout=20)
        self.connection.request(method, path, body, self.headers | {"Content-Type": content_type})

    def receive(self):
        try:
            response = self.connection.getresponse()
            text = response.read().decode("utf-8", "replace")
        except (http.client.HTTPException, OSError) as error:
            self.connection.close()
            self.connection = None
            return Response(0, [], repr(error))
        if response.will_close:
            self.connection.close()
            self.connection = None
        try:
            body = json.loads(text)
        except ValueError:
            body = text
        return Response(response.status, sorted(response.headers.get_all("Warning") or []), body)

    def call(self, method, path, body=b""):
        self.send(method, path, body)
        return self.receive()


def _decoded(text):
    return base64.b64decode(text).decode()


class Api:
    """The paths of objects, from the discovery documents of a server."""

    def __init__(self, server):
        self.server = server
        self.resources = {}

    def collection_of(self, item):
        version = item["apiVersion"]
        root = ("/apis/" if "/" in version else "/api/") + version
        if version not in self.resources:
            document = self.server.call("GET", root).body
            self.resources[version] = {r["kind"]: r for r in document.get("resources", []) if "/" not in r["name"]}
        resource = self.resources[version].get(item["kind"])
        if resource is None:
            return None
        namespace = "/namespaces/" + item["metadata"].get("namespace", "default") if resource["namespaced"] else ""
        return f"{root}{namespace}/{resource['name']}"


def fields_of(value, path=()):
    """Yields each field and element of a JSON value, except its name, kind and version."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in pairs:
        below = (*path, key)
        if below in {("kind",), ("apiVersion",), ("metadata",), ("metadata", "name"), ("metadata", "namespace")}:
            yield from fields_of(child, below)
            continue
        yield Field(below, child)
        yield from fields_of(child, below)


STRINGS = [
    "", "a" * 64, "a" * 254, "UPPER", "under_score", "-dash", "dot.", "white space", " a", "a ", "ä", "\u202e", "a/b", "a/b/c",
    "/absolute", "../up", "*", "a\nb", "a\u0000b", "0", "1", "-1", "true", "null", "80%", "101%", "1.5", "http://a.b/c?d", "10.0.0.1",
    "10.0.0.256", "010.0.0.1", "::1", "10.0.0.0/8", "10.0.0.1/8", "fe80::1%eth0", "example.com", "example.com/name", "Example.com/Name",
    "v1", "v1beta1", "TCP", "tcp", "Always", "always", "None", "Exists", "a=b", "$(A)", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+02:00",
    "2026-01-01t00:00:00z", "2026-01-01", "2026-02-30T00:00:00Z", "0001-01-01T00:00:00Z", "1h30m", "YQ==", "YQ", "Y Q = =", "YQ\n==", "YR==", "_-8=", "(",
    "[a-z]+", "{.spec.a}", ".spec.a", "system:masters", "kubernetes.io/hostname",
]
QUANTITIES = [
    "0", "-0", "+1", "1.0", "1.50", "1000m", "1500m", "0.1m", "1n", "0.5n", "1u", "1k", "1K", "1Ki", "1.5Gi", "1024Ki", "1025Ki", "1000Ki", "1e3",
    "1E3", "1E", "1e-3", "1Ei", "9223372036854775807", "9223372036854775808", "1e30", "100000000000000000000", ".5", "5.", "1 Gi", "1gi", "-1", "12e6Mi",
    RawJson("1"), RawJson("1.5"), RawJson("1e3"), RawJson("1.0"), RawJson("0.0001"), RawJson("1e19"), RawJson("12345678901234567890"),
]
NUMBERS = [RawJson(text) for text in (
    "0", "-0", "1", "-1", "1.0", "1.5", "1e0", "1E2", "1e-1", "127", "128", "255", "256", "511", "512", "65535", "65536", "2147483647", "2147483648",
    "-2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e400", "86400", "100", "101")]
OTHER_TYPES = [None, True, False, "text", "", {}, [], {"a": "b"}, ["a"], [None], {"": ""}, RawJson("7"), RawJson("1.5")]
INVALID_TEXT = [RawJson(text) for text in ('"\\ud800"', '"\\udc00\\ud800"', '"\xff"', '"a\tb"', '"\\u00e4"', '"\\/"', "nul", "01", '"\\x"')]
QUANTITY_FIELDS = re.compile(r"requests|limits|capacity|hard|min|max|default|defaultRequest|storage|cpu|memory|divisor|averageValue|value|sizeLimit")


def mutate(item, field, choose):
    """Changes one field of `item` in place. Returns the name of the mutation."""
    *parents, key = field.path
    parent = item
    for step in parents:
        parent = parent[step]
    value = field.value
    options = ["another type", "another type", "removed", "null", "invalid text"]
    if isinstance(value, str):
        options += ["string"] * 10 + ["changed string"] * 3
        if QUANTITY_FIELDS.fullmatch(str(key)):
            options += ["quantity"] * 12
    elif isinstance(value, bool):
        options += ["negated"] * 3
    elif isinstance(value, (int, float)):
        options += ["number"] * 10
    elif isinstance(value, dict):
        options += ["unknown field"] * 2 + ["key"] * 4 + ["empty", "null field"]
    elif isinstance(value, list):
        options += ["repeated"] * 3 + ["reversed", "shortened", "empty", "null element", "many"]
    name = choose(options)
    if name == "removed":
        del parent[key]
        return name
    new = copy.deepcopy(value)
    if name == "another type":
        new = choose(OTHER_TYPES)
    elif name == "null":
        new = None
    elif name == "invalid text":
        new = choose(INVALID_TEXT)
    elif name == "string":
        new = choose(STRINGS)
    elif name == "changed string":
        new = choose([value + "x", value.upper(), value.lower(), value[:-1], value * 3, value + "/", " " + value, value + ".", value.replace("-", "_")])
    elif name == "quantity":
        new = choose(QUANTITIES)
    elif name == "negated":
        new = not value
    elif name == "number":
        new = choose(NUMBERS + [value + 1, value - 1, -value])
    elif name == "unknown field":
        new["unknownField"] = choose([1, "a", {}, [], None])
    elif name == "key":
        new[choose(STRINGS)] = copy.deepcopy(choose(list(value.values()))) if value else "a"
    elif name == "empty":
        new = type(value)()
    elif name == "null field" and value:
        new[choose(list(value))] = None
    elif name == "repeated" and value:
        new.append(copy.deepcopy(choose(value)))
    elif name == "reversed":
        new.reverse()
    elif name == "shortened":
        new = new[1:]
    elif name == "null element":
        new.append(None)
    elif name == "many" and value:
        new = new * 70
    parent[key] = new
    return name


PATCH_TYPES = {"JSON": "json-patch+json", "merge": "merge-patch+json", "strategic merge": "strategic-merge-patch+json",
               "apply": "apply-patch+yaml"}


def pointer(path):
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def json_patch(path, value, other_path, choose):
    """Returns a patch with one operation on the field at `path`. A value of Ellipsis stands for a removed field."""
    operation = {"op": "remove" if value is ... else choose(["replace", "replace", "add", "test", "remove", "copy", "move"]),
                 "path": pointer(path)}
    if operation["op"] in ("replace", "add", "test"):
        operation["value"] = value
    if operation["op"] in ("copy", "move"):
        operation["from"] = pointer(other_path)
    return [operation]


def only(item, path, value):
    """Returns the parts of `item` that lead to the field at `path`, which has `value`. Elements of lists keep their
    scalars, with which patches identify them."""
    if not path:
        return None if value is ... else value
    step, *below = path
    if isinstance(item, dict):
        return {step: only(item[step], below, value)}
    element = item[step]
    if not below or not isinstance(element, dict):
        return [only(element, below, value)]
    return [{k: v for k, v in element.items() if not isinstance(v, (dict, list))} | only(element, below, value)]


def to_json(item):
    """Serializes an object; RawJson is inserted unchanged."""
    raw = []

    def mark(value):
        if isinstance(value, RawJson):
            raw.append(str(value))
            return f"@raw{len(raw) - 1}@"
        if isinstance(value, dict):
            return {k: mark(v) for k, v in value.items()}
        if isinstance(value, list):
            return [mark(v) for v in value]
        return value

    text = json.dumps(mark(item))
    text = re.sub(r'"@raw(\d+)@"', lambda match: raw[int(match[1])], text)
    return text.encode("latin-1" if "\xff" in text else "utf-8")


GENERATED = re.compile(r"\b(kube-api-access)-[a-z0-9]{5}\b")
UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def normalized(value, key=None):
    """Removes what each server chooses itself."""
    if isinstance(value, dict):
        return {k: normalized(v, k) for k, v in value.items()
                if k not in CHOSEN_BY_THE_SERVER and not (k == "time" and "fieldsV1" in value)}
    if isinstance(value, list):
        return [normalized(v, key) for v in value]
    if key in ALLOCATED and value not in ("", "None"):
        return "allocated"
    if isinstance(value, str):
        return GENERATED.sub(r"\1-", UID.sub("uid", value))
    return value


def normalized_error(value):
    """Removes objects, differences of objects and Go types, which kube-apiserver prints in its internal form."""
    if isinstance(value, dict):
        return {k: normalized_error(v) for k, v in value.items()}
    if isinstance(value, list):
        return [normalized_error(v) for v in value]
    if isinstance(value, str):
        value = re.sub(r'(?<=Invalid value: )"\{(?:[^"\\]|\\.)*"', "(object)", value)  # whose fields are sorted in part
        value = re.sub(r"\n(@@ .*?\n)?(?=[,\]]|$)", "", UID.sub("uid", value), flags=re.DOTALL)
        value = GENERATED.sub(r"\1-", value)
        value = re.sub(r"(duplicate nodePort: \{\w+ |\bnodePort:)\d+", r"\1allocated", value)
        value = re.sub(r"unmarshal number \S+ into", "unmarshal number into", value)
        value = re.sub(r"(cannot convert \w+ to) \S+", r"\1", value)
        value = re.sub(r"(Go (?:struct field \S+|value)) of type .*$", r"\1", value)
        return re.sub(r"(Invalid|Unsupported) value: ([{\[].*?[}\]]|null|\{\}): (?=[a-z`'])", r"\1 value: (object): ", value)
    return value


def first_difference(a, b, path=""):
    """Returns the path and the two values where `a` and `b` differ, or None."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            if key not in a or key not in b or a[key] != b[key]:
                return first_difference(a.get(key, "(absent)"), b.get(key, "(absent)"), f"{path}.{key}")
        return None
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for index, (x, y) in enumerate(zip(a, b)):
            if x != y:
                return first_difference(x, y, f"{path}[{index}]")
        return None
    return None if a == b else (path or ".", a, b)


def without_generated_name(response, prefix):
    """Replaces the random end of a name that the server has generated."""
    if not isinstance(prefix, str) or not isinstance(response.body, dict):
        return response
    escaped = json.dumps(prefix[:58])[1:-1]  # names have at most 63 characters
    quoted = json.dumps(escaped.replace(r"\u0000", r"\x00"))[1:-1]  # the name in quotes, in a message
    pattern = re.compile(f"({re.escape(escaped)}|{re.escape(quoted)})[bcdfghjklmnpqrstvwxz2456789]{{5}}\\b")
    text = pattern.sub(lambda match: match[0][:-5] + "-", json.dumps(response.body))
    return response._replace(body=json.loads(text))


def compare(real, kopp):
    """Returns what differs, and both values; None if nothing does."""
    if real.code >= 400 or kopp.code >= 400:
        real, kopp = (r._replace(body=normalized_error(r.body)) for r in (real, kopp))
        if real.code != kopp.code or _errors_of(real) != _errors_of(kopp):
            return f"{_errors_only_in(real, kopp)} / {_errors_only_in(kopp, real)}", _text_of(real), _text_of(kopp)
        for response in (real, kopp):
            if isinstance(response.body, dict):
                response.body.get("details", {}).pop("causes", None)
    if real.warnings != kopp.warnings:
        return "warnings", real.warnings, kopp.warnings
    difference = first_difference(normalized(real.body), normalized(kopp.body))
    if difference is None:
        return None
    where, a, b = difference
    return re.sub(r"\[\d+\]", "[]", where), a, b


def _errors_only_in(response, other):
    """Returns the code and the first error that the other response does not have, without its values."""
    errors = [error for error in _errors_of(response) if error not in _errors_of(other)]
    text = errors[0] if errors else "" if response.code == other.code else (_errors_of(response) or [""])[0]
    text = re.sub(r"\[\d+\]|\[[\w/.-]+\]", "[]", text)
    return f"{response.code} " + re.sub(r'"[^"]*"|\b\d+\b', "…", text)[:110]


def _errors_of(response):
    if not isinstance(response.body, dict) or response.code < 400:
        return []
    causes = response.body.get("details", {}).get("causes", [])
    errors = dict.fromkeys(f"{cause.get('field')}: {cause.get('message')}" for cause in causes)  # some appear twice
    return list(errors) or [response.body.get("message", "")]


def _text_of(response):
    if isinstance(response.body, dict) and "message" in response.body:
        return response.body["message"]
    return json.dumps(response.body)


def generic(kind, path):
    """Returns the kind and the path without indexes, for the groups of the report."""
    text = ""
    for step in path:
        text += "[]" if isinstance(step, int) else ("." if text else "") + step
    return f"{kind} {text}"


def explanation_of(place, kind, mutation, difference, body):
    text = f"{kind}: " + " | ".join(str(part) for part in (*difference, mutation, _value_at(place, body)))
    matches = [subject for pattern, subject in EXPLAINED if re.search(pattern, place)]
    return next(iter(matches + [subject for pattern, subject in EXPLAINED_DIFFERENCES if re.search(pattern, text)]), None)


class Comparison:
    def __init__(self, real, kopp, objects, operators, seed):
        self.real, self.kopp = real, kopp
        self.api = Api(real)
        self.random = random.Random(seed)
        self.objects = []
        self.groups = collections.defaultdict(list)
        self.explained = collections.Counter()
        self.verdicts = 0  # the unexplained differences between the verdicts on objects of operators
        for is_strict, items in ((False, objects), (True, operators)):
            for item in items:
                self.prepare(item, is_strict)

    def prepare(self, item, is_strict):
        """Stores a copy of an object in both servers, for PUT. Reports objects that only one accepts."""
        path = self.api.collection_of(item)
        if path is None:
            print(f"skipped: the real server does not serve {item['apiVersion']} {item['kind']}")
            return
        stored = copy.deepcopy(item)
        if item["kind"] not in {"CustomResourceDefinition", "Namespace"}:
            stored["metadata"]["name"] = item["metadata"].get("name", "generated") + "-x"
        query = "?dryRun=All" if item["kind"] in NOT_STORED else ""
        stored["metadata"].pop("ownerReferences", None)  # kopp deletes an object without owners
        for port in stored.get("spec", {}).get("ports", []) if item["kind"] == "Service" else []:
            port.pop("nodePort", None)  # each port exists once
        body = to_json(stored)
        responses = [server.call("POST", path + query, body) for server in (self.real, self.kopp)]
        self.record(item["kind"], is_strict, (), "unchanged", "POST", body, *responses)
        if responses[0].code != 201:
            print(f"{item['kind']} {stored['metadata']['name']}: {_text_of(responses[0])}")
        is_stored = self.real.call("GET", f"{path}/{stored['metadata']['name']}").code == 200
        if any(fields_of(item)):  # a Namespace may have only a name
            self.objects.append((item, is_strict, stored if is_stored else None, path))

    def record(self, kind, is_strict, path, mutation, method, body, real, kopp):
        difference = compare(real, kopp)
        if difference is None:
            return
        place = generic(kind, path)
        explained = explanation_of(place, kind, mutation, difference, body)
        if explained:
            self.explained[explained] += 1
            return
        if is_strict and (real.code < 400) != (kopp.code < 400):
            mutation = "VERDICT: " + mutation
            self.verdicts += 1
        self.groups[kind, difference[0]].append((place, method, mutation, body, difference))

    def step(self):
        item, is_strict, stored, path = self.random.choice(self.objects)
        method = "POST" if stored is None else self.random.choice(["POST", "POST", "PUT", "PATCH"])
        before = item if method == "POST" else stored
        changed = copy.deepcopy(before)
        field = self.random.choice(list(fields_of(changed)))
        mutation = mutate(changed, field, self.random.choice)
        url = (path if method == "POST" else f"{path}/{stored['metadata']['name']}") + "?dryRun=All"
        content_type, sent = "application/json", changed
        if method == "PATCH":
            name = self.random.choice(list(PATCH_TYPES))
            sent, query = self.patch(name, before, changed, field.path, mutation == "removed")
            mutation, content_type = f"{name} patch, {mutation}", "application/" + PATCH_TYPES[name]
            url += query
        body = to_json(sent)
        for server in (self.real, self.kopp):
            server.send(method, url, body, content_type)
        prefix = changed.get("metadata", {}).get("generateName") if isinstance(changed.get("metadata"), dict) else None
        real, kopp = (without_generated_name(server.receive(), prefix) for server in (self.real, self.kopp))
        self.record(item["kind"], is_strict, field.path, mutation, method, body, real, kopp)

    def patch(self, name, before, changed, path, removed):
        """Returns a patch from `before` to `changed`, which differ in the field at `path`, and its query. A JSON patch has a
        random operation on the field."""
        value = ... if removed else functools.reduce(lambda parent, step: parent[step], path, changed)
        if name == "JSON":
            other = self.random.choice(list(fields_of(before)))
            return json_patch(path, value, other.path, self.random.choice), ""
        patch = changed if self.random.random() < 0.3 else only(before, path, value)
        if name != "apply":
            return patch, ""
        patch = {"apiVersion": before["apiVersion"], "kind": before["kind"]} | patch
        if isinstance(patch.setdefault("metadata", {}), dict):
            patch["metadata"] = {"name": before["metadata"]["name"]} | patch["metadata"]
        return patch, "&fieldManager=other&force=" + self.random.choice(["true", "false"])

    def report(self, show):
        for (kind, what), cases in sorted(self.groups.items(), key=lambda group: -len(group[1])):
            print(f"\n{len(cases)} x {kind}: {what}")
            cases.sort(key=lambda case: not case[2].startswith("VERDICT"))
            for place, method, mutation, body, (_, a, b) in cases[:show]:
                print(f"  {method}, {mutation}: {place} = {_value_at(place, body)}")
                print(f"    real: {str(a)[:400]}\n    kopp: {str(b)[:400]}")
        for subject, count in sorted(self.explained.items()):
            print(f"explained: {count} x {subject}")
        total = sum(len(cases) for cases in self.groups.values())
        print(f"{total} unexplained differences in {len(self.groups)} groups; {self.verdicts} verdicts on objects of operators")
        return self.verdicts == 0


def _value_at(place, body):
    """Returns the first values at the place of a group, as far as the body is valid JSON."""
    try:
        values = [json.loads(body)]
    except ValueError:
        return "invalid JSON"
    for step in re.findall(r"[^.\[\]]+|\[\]", place.split(" ", 1)[1]):
        found = []
        for value in values:
            if step == "[]":
                found += value if isinstance(value, list) else []
            elif isinstance(value, dict) and step in value:
                found.append(value[step])
        if not found:
            break
        values = found
    return json.dumps(values)[:200]


def main():
    sys.stdout.reconfigure(errors="backslashreplace")
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--kind")
    parser.add_argument("--show", type=int, default=2)
    options = parser.parse_args()
    rows = (pathlib.Path(__file__).parents[2] / "framework/apiserver/DIFFERENCES.md").read_text(encoding="utf-8")
    for _, subject in EXPLAINED + EXPLAINED_DIFFERENCES:
        if f"| {subject}" not in rows:
            sys.exit(f"DIFFERENCES.md has no row that starts with: {subject}")
    if not options.files:
        return
    if len(options.files) != 4:
        parser.error("there must be four files, or none")
    real, kopp, *lists = (json.load(open(file, encoding="utf-8")) for file in options.files)
    objects, operators = ([item for item in items["items"] if options.kind in (None, item["kind"])] for items in lists)
    comparison = Comparison(Server(real), Server(kopp), objects, operators, options.seed)
    if not comparison.objects:
        sys.exit(2)
    for _ in range(options.requests):
        comparison.step()
    sys.exit(0 if comparison.report(options.show) else 1)


if __name__ == "__main__":
    main()
