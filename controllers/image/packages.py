"""Finds the Debian packages that files belong to."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, order=True)
class Package:
    """An installed Debian package."""

    name: str
    version: str
    architecture: str
    source: str
    maintainer: str
    homepage: str

    @property
    def copyright_file(self):
        """The file with the licences of the package."""
        return Path("/usr/share/doc") / self.name / "copyright"

    def status(self):
        """Returns the record of dpkg, which vulnerability scanners read."""
        return run("dpkg-query", "--status", f"{self.name}:{self.architecture}".removesuffix(":all"))


def run(*command):
    """Runs a command in the C locale and returns its output."""
    environment = dict(os.environ, LC_ALL="C")
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, env=environment).stdout


def packages_of(files):
    """Returns the sorted packages of the files. Fails if a file belongs to no package."""
    owners = _owners({name for file in files for name in _names(file)})
    found = set()
    for file in files:
        owner = next((owners[name] for name in _names(file) if name in owners), None)
        if owner is None:
            raise SystemExit(f"{file} belongs to no Debian package. The image contains only files of packages, "
                             "because their versions and licences are recorded in it.")
        found.add(owner)
    return sorted(_describe(name) for name in found)


def _names(file):
    """Returns the names by which dpkg may know a file: before and after /lib was merged into /usr/lib."""
    resolved = os.path.realpath(file)
    return [resolved, str(file), resolved.removeprefix("/usr")]


def _owners(names):
    """Asks dpkg once, because each query reads the file lists of all packages."""
    output = subprocess.run(["dpkg-query", "--search", *sorted(names)], text=True, check=False, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, env=dict(os.environ, LC_ALL="C")).stdout
    lines = [line.rpartition(": ") for line in output.splitlines() if not line.startswith("diversion by")]
    return {name: packages.split(",")[0] for packages, _, name in lines}


def _describe(name):
    fields = ("Package", "Version", "Architecture", "source:Package", "Maintainer", "Homepage")
    output = run("dpkg-query", "--show", "--showformat=" + "\\n".join(f"${{{field}}}" for field in fields), name)
    return Package(*output.split("\n"))
