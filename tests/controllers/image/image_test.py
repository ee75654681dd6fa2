#!/usr/bin/env python3
"""Tests the image of the sample controller: image_test.py ROOT ARCHIVE. `make test-image` runs it.

KOPP_APISERVER  the API server for the run
REBUILD         1: also builds the image a second time in another folder, which takes minutes
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import hardening
import oci
from run_image import Container, eventually

ROOT = Path(sys.argv.pop(1))
ARCHIVE = Path(sys.argv.pop(1))
PROGRAM = "usr/bin/sample-controller"
MANIFESTS = ROOT / "controllers/sample/manifests"


class ImageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.image = oci.Archive(ARCHIVE)
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.image.layer.extractall(cls.folder / "tree")

    def test_the_image_is_below_its_size_limit(self):
        unpacked = sum(entry.size for entry in self.image.layer)
        self.assertLess(unpacked, 30e6)
        self.assertLess(ARCHIVE.stat().st_size, 30e6)

    def test_the_program_has_all_protections_against_memory_errors(self):
        self.assertEqual(hardening.problems(self.folder / "tree" / PROGRAM), [])

    def test_the_program_has_no_symbols_and_no_paths_of_the_build(self):
        content = (self.folder / "tree" / PROGRAM).read_bytes()
        self.assertNotIn(b".symtab", content)
        self.assertNotIn(str(ROOT).encode(), content)

    def test_the_image_has_no_shell_and_only_the_expected_programs(self):
        executables = {entry.name for entry in self.image.layer if entry.isfile() and entry.mode & 0o111}
        self.assertEqual({name for name in executables if ".so" not in name}, {PROGRAM})

    def test_nothing_of_cpprestsdk_is_in_the_image(self):
        self.assertEqual([name for name in self.image.names() if "cpprest" in name], [])
        bill = json.loads(self.image.text("usr/share/sbom/sample-controller.spdx.json"))
        packages = {package["name"] for package in bill["packages"]}
        self.assertLessEqual({"libc6", "libssl3", "nlohmann-json3-dev", "libboost1.74-dev"}, packages)
        self.assertNotIn("libcpprest2.10", packages)

    def test_the_dockerfile_describes_the_same_image(self):
        dockerfile = (ROOT / "Dockerfile").read_text()
        labels = dict(re.findall(r"(org\.opencontainers\.image\.\w+)=\"(.*)\"", dockerfile))
        for name, value in self.image.config["config"]["Labels"].items():
            self.assertIn(labels[name], (value, "$" + name.rsplit(".", 1)[1].upper()))
        self.assertIn(f"USER {self.image.config['config']['User']}\n", dockerfile)
        self.assertIn(f"ENTRYPOINT {json.dumps(self.image.config['config']['Entrypoint'])}\n", dockerfile)
        self.assertIn("COPY --from=build /src/build/image/tree /\n", dockerfile)
        self.assertIn("make image-tree", dockerfile)

    @unittest.skipIf(os.environ.get("REBUILD") != "1", "compiles everything; set REBUILD=1")
    def test_a_second_build_in_another_folder_gives_the_same_archive(self):
        clone = self.folder / "clone"
        files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True,
                               check=True, stdout=subprocess.PIPE).stdout.strip("\0").split("\0")
        for file in filter(lambda name: (ROOT / name).is_file(), files):
            (clone / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / file, clone / file)
        labels = self.image.config["config"]["Labels"]
        created = subprocess.run(["date", "+%s", "--date", labels["org.opencontainers.image.created"]], text=True, check=True,
                                 stdout=subprocess.PIPE).stdout.strip()
        subprocess.run(["make", "image", f"SOURCE_DATE_EPOCH={created}", f"REVISION={labels['org.opencontainers.image.revision']}"],
                       cwd=clone, env=dict(os.environ, CCACHE_DISABLE="1"), check=True)
        self.assertEqual((clone / "build/image" / ARCHIVE.name).read_bytes(), ARCHIVE.read_bytes())


@unittest.skipIf(os.geteuid() != 0, "needs root for a namespace")
class RunningImageTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder.chmod(0o755)
        oci.Archive(ARCHIVE).layer.extractall(self.folder / "tree")

    def container(self, *arguments):
        container = Container(self.folder / "tree", self.folder / "root", self.folder / "log", "/" + PROGRAM, *arguments)
        self.addCleanup(container.stop)
        return container

    def start_api_server(self):
        kubeconfig = self.folder / "tree/kubeconfig"
        server = subprocess.Popen(
            [os.environ["KOPP_APISERVER"], "--load", MANIFESTS / "crd-status-subresource.yaml",
             "--load", MANIFESTS / "example-foo.yaml", "--audit-log", self.folder / "audit.log",
             "--write-kubeconfig", kubeconfig], stdout=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.assertTrue(eventually(kubeconfig.exists))
        kubeconfig.chmod(0o644)

    def created_deployments(self):
        audit = [json.loads(line) for line in (self.folder / "audit.log").read_text().splitlines()]
        return [entry for entry in audit if entry["verb"] == "create" and entry["objectRef"].get("resource") == "deployments"]

    def test_the_program_prints_its_help(self):
        container = self.container("--help")
        self.assertEqual(container.wait(), 0)
        self.assertIn("Usage: sample-controller", container.log.read_text())

    def test_the_program_creates_the_deployment_of_a_foo_and_stops_on_sigterm(self):
        self.start_api_server()
        container = self.container("--kubeconfig=/kubeconfig", "--metrics-bind-address=127.0.0.1:0")
        self.assertTrue(eventually(self.created_deployments), container.log.read_text())
        self.assertEqual(container.terminate(), 0, container.log.read_text())

    def test_the_preflight_check_finds_no_problem(self):
        self.start_api_server()
        container = self.container("--kubeconfig=/kubeconfig", "--check")
        self.assertEqual(container.wait(), 0, container.log.read_text())
        self.assertIn("the server serves foos.v1alpha1.samplecontroller.k8s.io", container.log.read_text())


if __name__ == "__main__":
    unittest.main()
