"""The charts and tools of the Helm ecosystem: lint, package, starter, helm-docs and kube-score."""

import json
import os
import re
import shutil

import yaml

from charts import CASES, CHARTS, HELMS, KUBERNETES, NAMESPACE, RELEASE, ROOT, SAMPLE, STARTER, ChartTest, arguments, render, run


class Tools(ChartTest):
    def test_lint_finds_no_problems(self):
        for helm in HELMS:
            for chart, file in CASES:
                with self.subTest(helm=helm, chart=chart.name, values=file):
                    run(HELMS[helm], "lint", "--strict", "--quiet", "--kube-version", KUBERNETES, chart, *arguments({}, file))

    def test_a_packaged_chart_renders_the_same_objects(self):
        for helm in HELMS:
            folder = self.folder()
            run(HELMS[helm], "package", SAMPLE, "--destination", folder)
            (archive,) = folder.glob("sample-controller-*.tgz")
            self.assertEqual(render(helm=helm), render(chart=archive, helm=helm))

    def test_the_starter_becomes_the_chart_of_an_operator(self):
        for helm in HELMS:
            with self.subTest(helm=helm):
                chart = self.folder() / "web-operator"
                run(HELMS[helm], "create", chart, "--starter", STARTER)
                (chart / "files/crds").mkdir(parents=True)
                shutil.copy(SAMPLE / "files/rbac.yaml", chart / "files")
                shutil.copy(SAMPLE / "files/crds/foos.yaml", chart / "files/crds")
                run(HELMS[helm], "lint", "--strict", "--quiet", "--kube-version", KUBERNETES, chart)
                expected = [item["kind"] for item in render(helm=helm)]
                self.assertEqual(expected, [item["kind"] for item in render(chart=chart, helm=helm)])

    def test_the_readme_pages_are_those_of_helm_docs(self):
        folder = self.folder()
        shutil.copytree(CHARTS, folder / "charts", symlinks=False)
        run(os.environ["HELM_DOCS"], "--chart-search-root", folder / "charts", "--template-files", "../operator/README.md.gotmpl", "--sort-values-order", "file")
        for chart in (SAMPLE, STARTER):
            self.assertEqual((folder / "charts" / chart.name / "README.md").read_text(), (chart / "README.md").read_text(),
                             f"{chart}/README.md is not up to date; run: make charts-readme")

    def test_kube_score_finds_nothing_critical(self):
        # The tag of an image is never moved, so a node need not ask the registry at each start.
        ignored = "container-image-pull-policy"
        for file in (None, SAMPLE / "ci/high-availability-values.yaml"):
            text = run(HELMS["Helm 4"], "template", RELEASE, SAMPLE, "--namespace", NAMESPACE, "--kube-version", KUBERNETES,
                       "--no-hooks", *arguments({}, file))
            result = json.loads(run(os.environ["KUBE_SCORE"], "score", "--ignore-test", ignored, "--kubernetes-version", "v1.30",
                                    "--output-format", "json", "-", stdin=text, codes=(0, 1)))
            critical = [(item["object_name"], check["check"]["id"], check["comments"])
                        for item in result for check in item["checks"] if check["grade"] == 1 and not check["skipped"]]
            self.assertEqual([], critical)

    def test_the_version_of_the_app_is_that_of_the_project(self):
        project = re.search(r"project\(kopp VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
        for chart in (SAMPLE, STARTER):
            self.assertEqual(project[1], yaml.safe_load((chart / "Chart.yaml").read_text())["appVersion"])

    def test_artifact_hub_annotations_are_yaml_and_name_the_image(self):
        chart = yaml.safe_load((SAMPLE / "Chart.yaml").read_text())
        annotations = chart["annotations"]
        for name in ("changes", "crds", "crdsExamples", "images"):
            self.assertIsInstance(yaml.safe_load(annotations[f"artifacthub.io/{name}"]), list)
        self.assertIn(f":{chart['appVersion']}", annotations["artifacthub.io/images"])
