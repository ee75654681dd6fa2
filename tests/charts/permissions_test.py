"""The permissions that the chart grants are those that the program prints for the flags that the chart passes."""

import os

import yaml

from charts import SAMPLE, CASES, ChartTest, container, find, permissions, render, run

PROGRAM = os.environ["SAMPLE_CONTROLLER"]
WEBHOOK_OPERATOR = os.environ["WEBHOOK_OPERATOR"]


def printed(*flags, program=PROGRAM):
    return list(yaml.safe_load_all(run(program, *flags, "--print-rbac")))


def granted(objects):
    return permissions(find(objects, "Role") + find(objects, "ClusterRole"))


class Permissions(ChartTest):
    def test_roles_grant_exactly_what_the_program_prints_for_its_flags(self):
        checked = 0
        for chart, file in CASES:
            if chart != SAMPLE:
                continue
            with self.subTest(values=file):
                objects = render(file=file)
                expected = printed(*container(objects)["args"])
                # Roles for users, for Prometheus, and for webhooks, which the program lacks.
                users = ("aggregate-to-", "metrics-reader", "-webhooks")
                roles = [role for role in find(objects, "Role") + find(objects, "ClusterRole")
                         if not any(word in str(role["metadata"]) for word in users)]
                if not roles:
                    continue
                self.assertEqual(permissions(expected), permissions(roles))
                checked += 1
        self.assertGreaterEqual(checked, 5)

    def test_webhooks_grant_exactly_what_a_program_with_webhooks_prints_for_them(self):
        without = render()
        for file in sorted((SAMPLE / "ci").glob("webhook*-values.yaml")):
            with self.subTest(values=file):
                objects = render(file=file)
                expected = [permissions(printed(*container(each)["args"], program=WEBHOOK_OPERATOR)) for each in (objects, without)]
                self.assertEqual(expected[0] - expected[1], granted(objects) - granted(without))
                self.assertIn("create", {verb for *_, verb in expected[0] - expected[1]})

    def test_the_rules_file_is_the_output_of_the_program(self):
        self.assertEqual(run(PROGRAM, "--print-rbac"), (SAMPLE / "files/rbac.yaml").read_text())

    def test_extra_rules_are_added_to_the_role_of_the_operator(self):
        rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
        for values, namespace in (({}, None), ({"watchNamespaces": ["web"]}, "web")):
            roles = find(render({**values, "rbac.extraRules": [rule]}), "Role" if namespace else "ClusterRole")
            self.assertIn((namespace, "", "pods", None, "list"), permissions(roles))
            self.assertEqual(1, len([role for role in roles if rule in role["rules"]]))
