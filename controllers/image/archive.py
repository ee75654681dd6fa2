"""Packs a folder as an OCI image archive with one layer."""

import gzip
import hashlib
import io
import json
import tarfile
from datetime import datetime, timezone
from pathlib import Path

import tree

OCI = "application/vnd.oci.image."
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def pack(folder, program, name, labels, created, machine, output):
    """Writes the archive to `output` and returns the digest of the image's manifest. The same
    arguments and files always give the same bytes.

    name      with a tag, such as registry.example.com/team/sample-controller:1.2.3
    labels    the part after "org.opencontainers.image." of each label -> its value
    created   the time of all files, in seconds since 1970
    """
    files = {}  # path in the archive -> content
    layer = _tar(_entries(Path(folder)), created)
    packed = gzip.compress(layer, compresslevel=9, mtime=0)
    labels = {f"org.opencontainers.image.{key}": value for key, value in sorted(labels.items())}
    config = _json({
        "created": _time(created),
        "architecture": ARCHITECTURES.get(machine, machine),
        "os": "linux",
        "config": {
            "User": f"{tree.USER}:{tree.USER}",
            "Entrypoint": [f"/usr/bin/{program}"],
            "Env": ["PATH=/usr/bin"],
            "WorkingDir": "/",
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [_digest(layer)]},
        "history": [{"created": _time(created), "created_by": "make image"}],
    })
    manifest = _json({
        "schemaVersion": 2,
        "mediaType": OCI + "manifest.v1+json",
        "config": _blob(files, OCI + "config.v1+json", config),
        "layers": [_blob(files, OCI + "layer.v1.tar+gzip", packed)],
        "annotations": labels,
    })
    image = _blob(files, OCI + "manifest.v1+json", manifest)
    image["annotations"] = {"io.containerd.image.name": full_name(name), "org.opencontainers.image.ref.name": name.rpartition(":")[2]}
    files["index.json"] = _json({"schemaVersion": 2, "mediaType": OCI + "index.v1+json", "manifests": [image]})
    files["oci-layout"] = _json({"imageLayoutVersion": "1.0.0"})
    # `docker load` before version 25 reads this file instead of index.json.
    files["manifest.json"] = _json([{"Config": _path(config), "RepoTags": [name], "Layers": [_path(packed)]}])
    entries = [(path, 0o644, content) for path, content in sorted(files.items())]
    Path(output).write_bytes(_tar([("blobs", 0o755, None), ("blobs/sha256", 0o755, None)] + entries, created))
    return image["digest"]


def full_name(name):
    """Adds the registry and the namespace that container runtimes add to a short name."""
    first, slash, _ = name.partition("/")
    if not slash:
        return f"docker.io/library/{name}"
    return name if "." in first or ":" in first or first == "localhost" else f"docker.io/{name}"


def _entries(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise SystemExit(f"{path} is neither a file nor a folder; the image contains only these")
        mode = 0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644
        yield str(path.relative_to(folder)), mode, None if path.is_dir() else path.read_bytes()


def _tar(entries, created):
    """Packs entries (path, mode, content; None: a folder) that belong to root."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, mode, content in entries:
            entry = tarfile.TarInfo(path)
            entry.mode, entry.mtime = mode, created
            if content is None:
                entry.type = tarfile.DIRTYPE
                archive.addfile(entry)
            else:
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def _blob(files, media_type, content):
    """Adds a blob to `files` and returns its descriptor."""
    files[_path(content)] = content
    return {"mediaType": media_type, "digest": _digest(content), "size": len(content)}


def _digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _path(content):
    return "blobs/" + _digest(content).replace(":", "/")


def _json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _time(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
