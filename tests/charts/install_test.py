"""Releases of the chart on kopp-apiserver and on a real kube-apiserver. No Pods run there."""

import os
import re
import shutil
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.request

import yaml

from charts import (FULLNAME, HELMS, NAMESPACE, RELEASE, ROOT, SAMPLE, CommandError, container, deployment, find, monitoring_crds,
                    render)
from servers import Server, eventually

PROGRAM = os.environ["SAMPLE_CONTROLLER"]
WEBHOOK_OPERATOR = os.environ["WEBHOOK_OPERATOR"]
FOO = yaml.safe_load((ROOT / "controllers/sample/manifests/example-foo.yaml").read_text())
KINDS = ("serviceaccounts,services,deployments.apps,networkpolicies,poddisruptionbudgets,roles,rolebindings,"
         "clusterroles,clusterrolebindings,pods,configmaps")


def names(objects):
    """Returns kind/name of the objects that belong only to one release and are no hooks."""
    return {f"{item['kind']}/{item['metadata']['name']}" for item in objects
            if item["kind"] not in ("CustomResourceDefinition", "Pod")}


class ServerTest(unittest.TestCase):
    server_name = "kopp-apiserver"

    @classmethod
    def setUpClass(cls):
        cls.server = Server(cls.server_name)
        cls.addClassCleanup(cls.server.stop)
        cls.server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {
            "name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}})


class ReleasesOnKoppApiserver(ServerTest):
    def test_a_release_is_installed_upgraded_rolled_back_and_uninstalled(self):
        for helm in HELMS:
            with self.subTest(helm=helm):
                self.check_release(helm)

    def check_release(self, helm):
        server = self.server
        started = time.monotonic()
        server.helm(helm, "install", RELEASE, SAMPLE)
        self.assertLess(time.monotonic() - started, 30)
        expected = names(render())
        self.assertEqual(expected, server.names(KINDS))
        eventually(lambda: "foos" in server.kubectl("api-resources", "--api-group=samplecontroller.k8s.io", "-o", "name"))
        server.create({**FOO, "metadata": {"name": f"foo-{helm[-1]}", "namespace": NAMESPACE}})

        server.helm(helm, "upgrade", RELEASE, self.second_version(), values={"replicaCount": 2})
        self.assertEqual(expected | {f"PodDisruptionBudget/{FULLNAME}"}, server.names(KINDS))
        self.assertEqual(2, server.get("deployment", FULLNAME)["spec"]["replicas"])
        self.assertIn("image", self.foo_fields())

        server.helm(helm, "rollback", RELEASE, "1")
        self.assertEqual(expected, server.names(KINDS))
        self.assertEqual(1, server.get("deployment", FULLNAME)["spec"]["replicas"])
        self.assertNotIn("image", self.foo_fields())

        server.helm(helm, "uninstall", RELEASE)
        self.assertEqual(set(), server.names(KINDS))
        self.assertEqual("foo", server.get("foo", f"foo-{helm[-1]}")["metadata"]["name"][:3])
        self.assertNotIn("deletionTimestamp", server.get("crd", "foos.samplecontroller.k8s.io")["metadata"])

    def test_monitoring_objects_are_installed_if_the_server_has_the_crds_of_the_prometheus_operator(self):
        server, values = self.server, {"metrics.serviceMonitor.enabled": True, "metrics.prometheusRule.enabled": True}
        plurals = {crd["spec"]["names"]["plural"] for crd in monitoring_crds().values()}
        server.create(*monitoring_crds().values())
        eventually(lambda: all(name in server.kubectl("api-resources", "--api-group=monitoring.coreos.com") for name in plurals))
        for helm in HELMS:
            with self.subTest(helm=helm):
                server.helm(helm, "install", RELEASE, SAMPLE, values=values)
                self.assertEqual({f"ServiceMonitor/{FULLNAME}", f"PrometheusRule/{FULLNAME}"}, server.names(",".join(plurals)))
                server.helm(helm, "uninstall", RELEASE)

    def second_version(self):
        """Returns a copy of the chart whose CustomResourceDefinition has one more field."""
        chart = self.server.folder / "second" / "sample-controller"
        if not chart.exists():
            shutil.copytree(SAMPLE, chart, symlinks=False)
            file = chart / "files/crds/foos.yaml"
            crd = yaml.safe_load(file.read_text())
            schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
            schema["properties"]["spec"]["properties"]["image"] = {"type": "string"}
            file.write_text(yaml.safe_dump(crd))
        return chart

    def foo_fields(self):
        version = self.server.get("crd", "foos.samplecontroller.k8s.io")["spec"]["versions"][0]
        return version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


class ReleasesOnKubeApiserver(ReleasesOnKoppApiserver):
    server_name = "kube-apiserver"


class Security(ServerTest):
    server_name = "kube-apiserver"

    def test_pods_are_accepted_in_a_namespace_that_enforces_the_restricted_profile(self):
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "restricted", "namespace": NAMESPACE}}
        self.server.create(account)
        for file in (None, SAMPLE / "ci/high-availability-values.yaml"):
            objects = render(file=file)
            self.dry_run(deployment(objects)["spec"]["template"]["spec"])
            for pod in find(objects, "Pod"):
                self.dry_run(pod["spec"])
        with self.assertRaisesRegex(CommandError, "violates PodSecurity \"restricted"):
            self.dry_run(deployment(render({"securityContext.allowPrivilegeEscalation": True}))["spec"]["template"]["spec"])

    def dry_run(self, spec):
        # No controller creates the ServiceAccount `default` here, and the API server has not created its priority classes yet.
        spec = {**spec, "serviceAccountName": "restricted", "priorityClassName": None}
        self.server.kubectl("create", "--dry-run=server", "--namespace", NAMESPACE, "-f", "-",
                            stdin=yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": spec}))

    def test_the_permissions_of_each_mode_suffice_for_the_check_of_the_program(self):
        for namespace in ("web", "shop"):
            self.server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        for values in ({}, {"rbac.namespaced": True, "metrics.secure": False},
                       {"watchNamespaces": ["web", "shop"], "leaderElection.namespace": "kube-system"}):
            with self.subTest(values=values):
                self.server.helm("Helm 4", "upgrade", "--install", RELEASE, SAMPLE, "--reset-values", values=values)
                flags = container(render(values))["args"]
                config = self.server.kubeconfig(NAMESPACE, FULLNAME)
                output = eventually(lambda: self.check(config, flags))
                self.assertIn("may list foos.samplecontroller.k8s.io", output)

    def check(self, config, flags):
        result = subprocess.run([PROGRAM, f"--kubeconfig={config}", *flags, "--check"], capture_output=True, text=True, timeout=60)
        self.last_check = result.stdout + result.stderr
        return result.returncode == 0 and result.stdout


class Monitoring(ServerTest):
    def test_queries_of_dashboard_and_alerts_name_metrics_that_programs_serve(self):
        self.server.create(yaml.safe_load((ROOT / "controllers/sample/manifests/crd-status-subresource.yaml").read_text()))
        self.server.create({**FOO, "metadata": {"name": "foo", "namespace": NAMESPACE}})
        served = self.served_metrics(r'reconcile_total\{.*"success"\} [1-9]', PROGRAM, "--leader-elect",
                                     f"--leader-election-namespace={NAMESPACE}")
        served |= self.served_metrics("^controller_runtime_webhook_", WEBHOOK_OPERATOR, "--webhook-port=0",
                                      f"--webhook-cert-path={self.new_certificate()}")
        values = {"metrics.grafanaDashboard.enabled": True, "metrics.prometheusRule.enabled": True,
                  "metrics.serviceMonitor.renderMode": "alwaysRender"}
        objects = render(values)
        texts = [str(item) for item in find(objects, "ConfigMap") + find(objects, "PrometheusRule")]
        queried = set(re.findall(r"\b([a-z_]+)\{", " ".join(texts)))
        self.assertGreaterEqual(len(queried), 12)
        self.assertEqual(set(), queried - served)

    def new_certificate(self):
        """Returns the folder of a certificate and its key."""
        folder = self.server.folder / "certificate"
        folder.mkdir()
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc",
                        "-subj", "/CN=webhooks", "-days", "1", "-keyout", folder / "tls.key", "-out", folder / "tls.crt"],
                       check=True, capture_output=True)
        return folder

    def served_metrics(self, pattern, *command):
        """Runs an operator until a line of its metrics matches; returns the names of all its metrics."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        with open(self.server.folder / "program.log", "a") as log:
            program = subprocess.Popen([*command, f"--kubeconfig={self.server.folder}/admin.kubeconfig",
                                        f"--metrics-bind-address={address}", "--metrics-secure=false"], stdout=log, stderr=log)
        try:
            text = eventually(lambda: self.scrape(address, pattern))
        finally:
            program.terminate()
            program.wait(timeout=60)
        return set(re.findall(r"^([a-z_]+)[{ ]", text, re.MULTILINE))

    def scrape(self, address, pattern):
        try:
            text = urllib.request.urlopen(f"http://{address}/metrics", timeout=60).read().decode()
        except urllib.error.URLError:
            return None
        return text if re.search(pattern, text, re.MULTILINE) else None
