#!/usr/bin/env python3
"""An image registry on loopback that serves OCI archives: registry.py PORT ARCHIVE..."""

import json
import sys
import tarfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def load(archives):
    """Returns path of a request -> (media type, content)."""
    served = {"/v2/": ("application/json", b"{}")}
    for path in archives:
        with tarfile.open(path) as archive:
            files = {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isfile()}
        (image,) = json.loads(files["index.json"])["manifests"]
        repository, _, tag = image["annotations"]["io.containerd.image.name"].partition("/")[2].rpartition(":")
        for name, content in files.items():
            if name.startswith("blobs/"):
                digest = name.removeprefix("blobs/").replace("/", ":")
                served[f"/v2/{repository}/blobs/{digest}"] = ("application/octet-stream", content)
        manifest = (image["mediaType"], files["blobs/" + image["digest"].replace(":", "/")])
        served[f"/v2/{repository}/manifests/{tag}"] = served[f"/v2/{repository}/manifests/{image['digest']}"] = manifest
    return served


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served = load(sys.argv[2:])

    def do_GET(self):
        self.respond(body=True)

    def do_HEAD(self):
        self.respond(body=False)

    def respond(self, body):
        path = self.path.partition("?")[0]
        media_type, content = self.served.get(path, ("application/json", b"{}"))
        self.send_response(200 if path in self.served else 404)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
