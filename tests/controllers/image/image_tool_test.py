#!/usr/bin/env python3
"""Tests the tool that builds container images: image_tool_test.py ROOT. Packs a program of Debian."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import oci

ROOT = Path(sys.argv.pop(1)).resolve()
PROGRAM = Path("/usr/bin/ninja")
LABELS = ("title=Ninja", "version=1.2")


def tool(*arguments, epoch="1700000000"):
    command = [sys.executable, "-B", str(ROOT / "controllers/image/image.py"), *map(str, arguments)]
    environment = dict(os.environ, SOURCE_DATE_EPOCH=epoch)
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, check=False)


class ImageToolTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.collected = Path(cls.enterClassContext(tempfile.TemporaryDirectory())) / "tree"
        result = cls.collect(cls.collected, debug=cls.collected.with_name("debug"))
        assert result.returncode == 0, result.stdout

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copytree(self.collected, self.folder / "tree")

    @staticmethod
    def collect(output, **options):
        return tool("tree", "--program", PROGRAM, "--version", "1.2", "--license", ROOT / "LICENSE",
                    "--output", output, *(f"--{key}={value}" for key, value in options.items()))

    def pack(self, tree="tree", output="image.tar", name="team/ninja:1.2", **options):
        labels = [argument for label in LABELS for argument in ("--label", label)]
        return tool("archive", "--tree", self.folder / tree, "--program", PROGRAM.name, "--name", name,
                    "--output", self.folder / output, *labels, *(f"--{key}={value}" for key, value in options.items()))

    def archive(self, **options):
        result = self.pack(**options)
        self.assertEqual(result.returncode, 0, result.stdout)
        return oci.Archive(self.folder / "image.tar")

    def test_equal_files_in_another_folder_give_the_same_archive(self):
        self.archive()
        self.collect(self.folder / "tree2")
        os.utime(self.folder / "tree2/etc/passwd", (1, 1))
        self.pack("tree2", "image2.tar")
        self.assertEqual((self.folder / "image.tar").read_bytes(), (self.folder / "image2.tar").read_bytes())

    def test_the_image_runs_the_program_as_user_65532(self):
        config = self.archive().config["config"]
        self.assertEqual(config["User"], "65532:65532")
        self.assertEqual(config["Entrypoint"], ["/usr/bin/ninja"])
        self.assertEqual(config["Labels"], {"org.opencontainers.image.title": "Ninja", "org.opencontainers.image.version": "1.2"})

    def test_the_name_of_the_image_has_a_registry(self):
        for name, full in (("ninja:1", "docker.io/library/ninja:1"), ("team/ninja:1", "docker.io/team/ninja:1"),
                           ("localhost:5000/ninja:1", "localhost:5000/ninja:1")):
            annotations = self.archive(name=name).descriptor["annotations"]
            self.assertEqual(annotations["io.containerd.image.name"], full)
            self.assertEqual(annotations["org.opencontainers.image.ref.name"], "1")

    def test_all_files_belong_to_root_and_have_the_time_of_the_sources(self):
        for entry in self.archive().layer:
            self.assertEqual((entry.uid, entry.gid, entry.mtime), (0, 0, 1700000000), entry.name)
            self.assertIn(entry.mode, (0o644, 0o755), entry.name)

    def test_each_library_has_its_package_in_the_bill_of_materials(self):
        archive = self.archive()
        libraries = [name for name in archive.names() if ".so." in name]
        self.assertGreaterEqual(len(libraries), 4)
        bill = json.loads(archive.text("usr/share/sbom/ninja.spdx.json"))
        bill_versions = {package["name"]: package["versionInfo"] for package in bill["packages"]}
        for name in ("libc6", "libstdc++6", "libgcc-s1"):
            version = subprocess.run(["dpkg-query", "-Wf${Version}", name], text=True, stdout=subprocess.PIPE, check=True).stdout
            self.assertEqual(bill_versions[name], version)
            self.assertIn(f"Package: {name}\n", archive.text(f"var/lib/dpkg/status.d/{name}"))
            self.assertIn(f"usr/share/doc/{name}/copyright", archive.names())
        self.assertEqual(bill["creationInfo"]["created"], "2023-11-14T22:13:20Z")
        self.assertTrue((self.folder / "image.spdx.json").exists())

    def test_an_image_above_the_limit_is_refused(self):
        self.assertRegex(self.collect(self.folder / "small", limit=0.5).stdout, r"has \d+\.\d MB unpacked; at most 0.5 MB are allowed")
        result = self.pack(limit=0.5)
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"has \d+\.\d MB packed; at most 0.5 MB are allowed")

    def test_a_symbolic_link_in_the_files_is_refused(self):
        (self.folder / "tree/etc/link").symlink_to("/etc/shadow")
        result = self.pack()
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("etc/link is neither a file nor a folder", result.stdout)

    def test_the_debug_information_is_found_by_build_id(self):
        (file,) = (self.collected.with_name("debug") / ".build-id").rglob("*.debug")
        notes = subprocess.run(["readelf", "--notes", str(self.folder / "tree/usr/bin/ninja")], text=True,
                               stdout=subprocess.PIPE, check=True).stdout
        self.assertIn(file.parent.name + file.stem, notes)


if __name__ == "__main__":
    unittest.main()
