"""Renders the charts with Helm and finds objects in the result."""

import functools
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHARTS = ROOT / "charts"
SAMPLE = CHARTS / "sample-controller"
STARTER = CHARTS / "operator"
HELMS = {"Helm 3": os.environ["HELM3"], "Helm 4": os.environ["HELM4"]}
KUBERNETES = "1.36.0"
RELEASE, NAMESPACE = "demo", "operators"
FULLNAME = f"{RELEASE}-sample-controller"

# (chart, file with values) of each rendering that the tests check.
CASES = [(SAMPLE, None)] + [
    (chart, file) for chart in (SAMPLE, STARTER) for file in sorted((chart / "ci").glob("*-values.yaml"))
]


class CommandError(Exception):
    """A program failed. The text is its standard error."""


def run(*command, stdin=None, env=None, codes=(0,)):
    """Runs a program and returns its standard output. Requires one of these exit codes."""
    result = subprocess.run([str(word) for word in command], input=stdin, capture_output=True, text=True,
                            timeout=120, env={**os.environ, **(env or {})})
    if result.returncode not in codes:
        # Helm reports each symbolic link in a chart.
        lines = (result.stderr + result.stdout).splitlines()
        raise CommandError("\n".join(line for line in lines if "found symbolic link" not in line))
    return result.stdout


def arguments(values, file):
    """Returns flags of Helm for a dictionary of values and a file."""
    flags = ["--values", str(file)] if file else []
    for key, value in values.items():
        flags += ["--set-json", f"{key}={json.dumps(value)}"]
    return flags


@functools.lru_cache(maxsize=None)
def render_with(flags, chart, release, helm):
    return run(HELMS[helm], "template", release, chart, "--namespace", NAMESPACE, "--kube-version", KUBERNETES, *flags)


def render(values=None, file=None, chart=SAMPLE, release=RELEASE, helm="Helm 4", flags=()):
    """Returns the objects that a chart renders with these values."""
    text = render_with((*flags, *arguments(values or {}, file)), chart, release, helm)
    return [document for document in yaml.safe_load_all(text) if document]


def notes(values):
    """Returns what `helm install` prints for the user. Helm 3 would need a cluster for a dry run."""
    return run(HELMS["Helm 4"], "install", RELEASE, SAMPLE, "--namespace", NAMESPACE, "--dry-run=client",
               *arguments(values, None)).partition("\nNOTES:\n")[2]


def find(objects, kind, name=None):
    """Returns the objects of a kind, or the only one of this name."""
    found = [item for item in objects if item["kind"] == kind and name in (None, item["metadata"]["name"])]
    if name is None:
        return found
    assert len(found) == 1, f"{len(found)} objects {kind}/{name}"
    return found[0]


def deployment(objects):
    (found,) = find(objects, "Deployment")
    return found


def container(objects):
    return deployment(objects)["spec"]["template"]["spec"]["containers"][0]


def monitoring_crds():
    """Returns kind -> CustomResourceDefinition of the Prometheus operator."""
    crds = [json.loads(file.read_text()) for file in pathlib.Path(os.environ["MONITORING_CRDS"]).glob("*.json")]
    return {crd["spec"]["names"]["kind"]: crd for crd in crds}


def strict_schema(schema):
    """Returns a schema of a CustomResourceDefinition as a JSON Schema that rejects unknown fields."""
    result = dict(schema)
    if "properties" in schema:
        result["properties"] = {name: strict_schema(field) for name, field in schema["properties"].items()}
        result["additionalProperties"] = False
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            result[keyword] = strict_schema(schema[keyword])
    if "pattern" in schema:  # Python accepts Go's (?i) only at the start
        result["pattern"] = schema["pattern"].replace("^(?i)", "(?i)^")
    return result


def permissions(roles):
    """Returns the set of single permissions of Roles and ClusterRoles: (namespace, group, resource, name, verb)."""
    return {
        (role["metadata"].get("namespace"), group, resource, name, verb)
        for role in roles for rule in role["rules"] if "nonResourceURLs" not in rule
        for group in rule["apiGroups"] for resource in rule["resources"]
        for name in rule.get("resourceNames", [None]) for verb in rule["verbs"]
    }


def for_each_rendering(test):
    """Decorates a test that takes the objects of a rendering: calls it for each of CASES."""

    @functools.wraps(test)
    def run_for_each(self):
        for chart, file in CASES:
            with self.subTest(chart=chart.name, values=file.name if file else "default"):
                test(self, render(file=file, chart=chart))

    return run_for_each


class ChartTest(unittest.TestCase):
    def folder(self):
        """Returns a folder that is removed after the test."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)
