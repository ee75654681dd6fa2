"""API servers for tests: kopp-apiserver, or etcd and kube-apiserver."""

import atexit
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from charts import HELMS, NAMESPACE, RELEASE, ROOT, arguments, run

# The server's folder holds its kubeconfigs and logs.
SCRIPTS = {"kopp-apiserver": "kopp_cluster.sh", "kube-apiserver": "cluster.sh"}


# End the tests as Ctrl-C does. The functions of atexit then stop the servers.
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.default_int_handler)


class Server:
    def __init__(self, name):
        self.script = ROOT / "tests/cluster" / SCRIPTS[name]
        self.folder = pathlib.Path(tempfile.mkdtemp()) / "server"
        atexit.register(self.stop)
        self.run_script("up", self.folder)
        self.env = {"KUBECONFIG": str(self.folder / "admin.kubeconfig"), "KUBECACHEDIR": str(self.folder / "kubectl"),
                    **{f"HELM_{name}_HOME": str(self.folder / "helm") for name in ("CACHE", "CONFIG", "DATA")}}

    def stop(self):
        if (self.folder / "cluster").exists():
            self.run_script("down", self.folder)
        if self.folder.parent.exists():
            self.folder.parent.rmdir()

    def run_script(self, command, *words):
        # Not with a pipe: the server would keep it open.
        with tempfile.TemporaryFile("w+") as output:
            code = subprocess.run([self.script, command, *words], stdout=output, stderr=output, timeout=300).returncode
            output.seek(0)
            assert code == 0, f"{self.script} {command} failed: {output.read()}"

    def helm(self, helm, *words, values=None, file=None):
        return run(HELMS[helm], *words, "--namespace", NAMESPACE, *arguments(values or {}, file), env=self.env)

    def kubectl(self, *words, stdin=None):
        return run(os.environ["KUBECTL"], *words, stdin=stdin, env=self.env)

    def create(self, *items):
        for item in items:
            self.kubectl("create", "-f", "-", stdin=json.dumps(item))

    def get(self, kind, name, namespace=NAMESPACE):
        return json.loads(self.kubectl("get", kind, name, "--namespace", namespace, "-o", "json"))

    def names(self, kinds):
        """Returns kind/name of the objects of the release, of these kinds."""
        selector = f"app.kubernetes.io/instance={RELEASE}"
        items = json.loads(self.kubectl("get", kinds, "--all-namespaces", "--selector", selector, "-o", "json"))["items"]
        return {f"{item['kind']}/{item['metadata']['name']}" for item in items}

    def kubeconfig(self, namespace, account):
        """Returns a kubeconfig with a token of a ServiceAccount."""
        self.run_script("service-account", self.folder, namespace, account)
        return self.folder / f"{account}.kubeconfig"


def eventually(function, seconds=30):
    """Calls the function until its result is true, and returns it."""
    end = time.monotonic() + seconds
    while not (result := function()):
        assert time.monotonic() < end, f"not true within {seconds} s"
        time.sleep(0.1)
    return result
