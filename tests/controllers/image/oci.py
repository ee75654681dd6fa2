"""Reads OCI archives, for tests. It shares no code with the tool that writes them."""

import gzip
import hashlib
import io
import json
import tarfile


class Archive:
    """An OCI image archive with one image. Checks all digests and sizes."""

    def __init__(self, path):
        with tarfile.open(path) as archive:
            self.files = {entry.name: archive.extractfile(entry).read() for entry in archive if entry.isfile()}
        assert json.loads(self.files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
        (self.descriptor,) = json.loads(self.files["index.json"])["manifests"]
        self.manifest = json.loads(self.blob(self.descriptor))
        self.config = json.loads(self.blob(self.manifest["config"]))
        (layer,) = self.manifest["layers"]
        unpacked = gzip.decompress(self.blob(layer))
        assert self.config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(unpacked).hexdigest()]
        self.layer = tarfile.open(fileobj=io.BytesIO(unpacked))

    def blob(self, descriptor):
        content = self.files["blobs/" + descriptor["digest"].replace(":", "/")]
        assert descriptor["digest"] == "sha256:" + hashlib.sha256(content).hexdigest()
        assert descriptor["size"] == len(content)
        return content

    def text(self, name):
        return self.layer.extractfile(name).read().decode()

    def names(self):
        return set(self.layer.getnames())
