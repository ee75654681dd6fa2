"""Wrong values are refused with a text that says what to do. The notes of a release warn of risky values."""

from charts import FULLNAME, NAMESPACE, RELEASE, STARTER, CommandError, ChartTest, notes, render

# (values, a regular expression for the error)
WRONG_VALUES = [
    ({"replicaCounts": 2}, "replicaCounts.*not allowed"),
    ({"image.pullpolicy": "Always"}, "pullpolicy.*not allowed"),
    ({"image.pullPolicy": "Sometimes"}, "IfNotPresent"),
    ({"image.digest": "sha256:123"}, "digest"),
    ({"log.format": "xml"}, "logfmt"),
    ({"log.level": "debug"}, "integer"),
    ({"metrics.port": 70000}, "maximum"),
    ({"watchNamespaces": "web"}, "array"),
    ({"watchNamespaces": ["Web"]}, "pattern"),
    ({"watchNamespaces": ["web", "web"]}, "equal|unique"),
    ({"leaderElection.leaseDuration": "15"}, "pattern"),
    ({"extraArgs": ["v=4"]}, "pattern"),
    ({"terminationGracePeriodSeconds": 5}, "terminationGracePeriodSeconds"),
    ({"replicaCount": 2, "leaderElection.enabled": False}, "all replicas would reconcile the same objects. Set leaderElection.enabled=true"),
    ({"webhook.enabled": True, "leaderElection.enabled": False}, "webhook.enabled needs two replicas.*Set leaderElection.enabled=true"),
    ({"webhook.enabled": True, "webhook.port": 8081}, "webhook.port is 8081.*another port"),
    ({"webhook.enabled": True, "rbac.namespaced": True, "metrics.secure": False}, "Set webhook.enabled=false"),
    ({"rbac.namespaced": True}, "rbac.namespaced allows no ClusterRole.*Set metrics.secure=false"),
    ({"serviceAccount.create": False}, "Set serviceAccount.name to an existing ServiceAccount"),
    ({"podDisruptionBudget": {"minAvailable": 1, "maxUnavailable": 1}}, "Set only one of them"),
    ({"metrics.port": 8081}, "both 8081"),
    ({"metrics": {"enabled": False, "serviceMonitor": {"enabled": True}}}, "metrics.enabled is false"),
    ({"metrics": {"serviceMonitor": {"enabled": True}, "podMonitor": {"enabled": True}}}, "twice"),
    ({"metrics": {"serviceMonitor": {"enabled": True}, "service": {"enabled": False}}}, "needs metrics.service.enabled"),
    ({"metrics": {"podMonitor": {"enabled": True}}}, "needs metrics.podMonitor.authorization"),
]

# (values, a regular expression for the warning)
RISKY_VALUES = [
    ({"leaderElection.enabled": False}, "leader election is off"),
    ({"metrics.secure": False}, "metrics are served over plain HTTP"),
    ({"rbac.create": False}, "needs the permissions that it prints with --print-rbac"),
    ({"crds.enabled": False}, "Install the CustomResourceDefinitions yourself"),
    ({"crds.keep": False}, "deletes the CustomResourceDefinitions and all their objects"),
    ({"metrics.serviceMonitor.enabled": True}, "the ServiceMonitor was left out.*Install the Prometheus operator"),
    ({"metrics.prometheusRule.enabled": True}, "the PrometheusRule was left out"),
]


class WrongValues(ChartTest):
    def test_wrong_values_are_refused_by_both_versions_of_helm(self):
        for values, expected in WRONG_VALUES:
            for helm in ("Helm 3", "Helm 4"):
                with self.subTest(values=values, helm=helm), self.assertRaisesRegex(CommandError, expected):
                    render(values, helm=helm)

    def test_the_starter_asks_for_an_image(self):
        with self.assertRaisesRegex(CommandError, "image.repository is not set. Set it to the image of your operator"):
            render(chart=STARTER)

    def test_values_of_a_parent_chart_are_accepted(self):
        render({"global": {"imageRegistry": "example.com"}})


class Notes(ChartTest):
    def test_the_notes_name_the_next_commands(self):
        text = notes({})
        self.assertIn(f"kubectl -n {NAMESPACE} rollout status deployment/{FULLNAME}", text)
        self.assertIn(f"kubectl -n {NAMESPACE} logs deployment/{FULLNAME}", text)
        self.assertIn(f"helm test {RELEASE} -n {NAMESPACE}", text)
        self.assertIn(f"--clusterrole={NAMESPACE}-{FULLNAME}-metrics-reader", text)
        self.assertIn("Set replicaCount=2 for high availability", text)
        self.assertNotIn("WARNING", text)

    def test_the_notes_warn_of_risky_values(self):
        for values, expected in RISKY_VALUES:
            with self.subTest(values=values):
                self.assertRegex(notes(values), f"WARNING: .*{expected}")
