"""A running kube-apiserver."""
import json
import pathlib
import ssl
import urllib.request


class Server:
    """Reads JSON documents from the API server of a cluster that tests/cluster/cluster.sh started in `folder`."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.address = f"https://127.0.0.1:{(folder / 'port').read_text().strip()}/"
        tls = ssl.create_default_context(cafile=folder / "ca.crt")
        tls.load_cert_chain(folder / "admin.crt", folder / "admin.key")
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=tls))

    def get(self, path, accept="application/json"):
        with self.opener.open(urllib.request.Request(self.address + path, headers={"Accept": accept})) as response:
            return json.load(response)

    def version(self):
        return self.get("version")["gitVersion"]

    def columns(self, path):
        """Returns the columns of the table of a resource."""
        return self.get(path, "application/json;as=Table;v=v1;g=meta.k8s.io")["columnDefinitions"]
