"""Wrong values are refused with a text that says what to do."""

from charts import STARTER, CommandError, ChartTest, render

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
    ({"rbac.namespaced": True}, "rbac.namespaced allows no ClusterRole.*Set metrics.secure=false"),
    ({"serviceAccount.create": False}, "Set serviceAccount.name to an existing ServiceAccount"),
    ({"podDisruptionBudget": {"minAvailable": 1, "maxUnavailable": 1}}, "Set only one of them"),
    ({"metrics.port": 8081}, "both 8081"),
    ({"metrics": {"enabled": False, "serviceMonitor": {"enabled": True}}}, "metrics.enabled is false"),
    ({"metrics": {"serviceMonitor": {"enabled": True}, "podMonitor": {"enabled": True}}}, "twice"),
    ({"metrics": {"serviceMonitor": {"enabled": True}, "service": {"enabled": False}}}, "needs metrics.service.enabled"),
    ({"metrics": {"podMonitor": {"enabled": True}}}, "needs metrics.podMonitor.authorization"),
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
