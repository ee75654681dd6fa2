"""Every rendering of the charts, and the effect of single values."""

import json
import re

import jsonschema
import kubernetes_validate
import yaml

from charts import (CASES, FULLNAME, HELMS, NAMESPACE, RELEASE, ROOT, CommandError, ChartTest, container, deployment, find,
                    for_each_rendering, monitoring_crds, render, strict_schema)

CLUSTER_SCOPED = {"ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "Namespace"}
PROMETHEUS = ("--api-versions", "monitoring.coreos.com/v1/ServiceMonitor",
              "--api-versions", "monitoring.coreos.com/v1/PodMonitor",
              "--api-versions", "monitoring.coreos.com/v1/PrometheusRule")
MONITORING_SCHEMAS = {kind: strict_schema(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
                      for kind, crd in monitoring_crds().items()}


def validate_monitoring(objects):
    """Compares the objects of the Prometheus operator with its CustomResourceDefinitions. Returns their kinds."""
    found = [item for item in objects if item["apiVersion"] == "monitoring.coreos.com/v1"]
    for item in found:
        jsonschema.validate(item, MONITORING_SCHEMAS[item["kind"]])
    return {item["kind"] for item in found}


class EveryRendering(ChartTest):
    def test_helm_3_and_helm_4_render_the_same_objects(self):
        for chart, file in CASES:
            with self.subTest(chart=chart.name, values=file):
                self.assertEqual(render(file=file, chart=chart, helm="Helm 3"), render(file=file, chart=chart, helm="Helm 4"))

    @for_each_rendering
    def test_objects_fit_the_schemas_of_kubernetes(self, objects):
        for item in objects:
            if item["apiVersion"] in ("monitoring.coreos.com/v1", "cert-manager.io/v1"):
                continue  # these kinds are not part of Kubernetes; see the next test
            for version in ("1.27", "1.36"):
                kubernetes_validate.validate(item, version, strict=True)

    def test_monitoring_objects_fit_the_crds_of_the_prometheus_operator(self):
        kinds = set()
        for chart, file in CASES:
            with self.subTest(chart=chart.name, values=file):
                kinds |= validate_monitoring(render(file=file, chart=chart, flags=PROMETHEUS))
        self.assertEqual(set(MONITORING_SCHEMAS), kinds)

    def test_names_and_labels_have_at_most_63_characters(self):
        for objects in (render(), render(release="r" * 53), render({"fullnameOverride": "f" * 80}), render({"nameOverride": "n" * 63})):
            for item in objects:
                if item["kind"] not in CLUSTER_SCOPED | {"Role", "RoleBinding"}:
                    self.assertLessEqual(len(item["metadata"]["name"]), 63)
                for value in item["metadata"]["labels"].values():
                    self.assertLessEqual(len(value), 63)

    @for_each_rendering
    def test_objects_have_the_standard_labels(self, objects):
        for item in objects:
            if item["metadata"]["name"] in (f"extra-{RELEASE}", "websites.example.com"):
                continue  # from extraObjects
            labels = item["metadata"]["labels"]
            self.assertEqual("Helm", labels["app.kubernetes.io/managed-by"])
            self.assertEqual(RELEASE, labels["app.kubernetes.io/instance"])
            for name in ("name", "version", "part-of", "component"):
                self.assertIn(f"app.kubernetes.io/{name}", labels)
            self.assertIn("helm.sh/chart", labels)

    @for_each_rendering
    def test_selectors_select_the_pods_of_the_operator_but_not_the_pod_of_helm_test(self, objects):
        selector = deployment(objects)["spec"]["selector"]["matchLabels"]
        self.assertEqual({"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component"}, set(selector))
        self.assertLessEqual(selector.items(), deployment(objects)["spec"]["template"]["metadata"]["labels"].items())
        for pod in find(objects, "Pod") + [job["spec"]["template"] for job in find(objects, "Job")]:
            self.assertFalse(selector.items() <= pod["metadata"]["labels"].items())
        for service in find(objects, "Service"):
            self.assertEqual(selector, service["spec"]["selector"])
        for kind in ("PodDisruptionBudget", "PodMonitor"):
            for item in find(objects, kind):
                self.assertEqual(selector, item["spec"]["selector"]["matchLabels"])
        for policy in find(objects, "NetworkPolicy"):
            self.assertEqual(selector, policy["spec"]["podSelector"]["matchLabels"])

    @for_each_rendering
    def test_containers_have_resources_probes_and_a_read_only_root(self, objects):
        main = container(objects)
        self.assertEqual({"cpu", "memory", "ephemeral-storage"}, set(main["resources"]["limits"]))
        self.assertTrue(main["securityContext"]["readOnlyRootFilesystem"])
        for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
            self.assertEqual("health", main[probe]["httpGet"]["port"])


class SingleValues(ChartTest):
    def test_namespaced_mode_renders_nothing_cluster_scoped_but_crds(self):
        values = {"rbac.namespaced": True, "metrics.secure": False}
        for more in ({}, {"watchNamespaces": ["web", "shop"]}):
            kinds = {item["kind"] for item in render({**values, **more})}
            self.assertEqual({"CustomResourceDefinition"}, kinds & CLUSTER_SCOPED)
        self.assertFalse({item["kind"] for item in render({**values, "crds.enabled": False})} & CLUSTER_SCOPED)

    def test_namespaced_mode_watches_the_namespace_of_the_release(self):
        objects = render({"rbac.namespaced": True, "metrics.secure": False})
        self.assertIn(f"--namespace={NAMESPACE}", container(objects)["args"])
        self.assertEqual({NAMESPACE}, {role["metadata"]["namespace"] for role in find(objects, "Role")})

    def test_watched_namespaces_get_a_role_and_a_binding_each(self):
        objects = render({"watchNamespaces": ["web", "shop"]})
        self.assertIn("--namespace=web,shop", container(objects)["args"])
        for kind in ("Role", "RoleBinding"):
            found = {item["metadata"]["namespace"] for item in find(objects, kind, None)}
            self.assertEqual({"web", "shop", NAMESPACE}, found)
        self.assertEqual([], [role for role in find(objects, "ClusterRole") if role["metadata"]["name"] == f"{NAMESPACE}-{FULLNAME}"])

    def test_user_ids_that_are_null_are_left_to_openshift(self):
        ids = ("runAsUser", "runAsGroup", "fsGroup")
        values = {f"podSecurityContext.{name}": None for name in ids}
        values.update({f"securityContext.{name}": None for name in ids[:2]})
        for helm in HELMS:
            objects = render(values, helm=helm)
            for context in (deployment(objects)["spec"]["template"]["spec"]["securityContext"], container(objects)["securityContext"]):
                self.assertFalse(set(ids) & set(context))
                self.assertTrue(context["runAsNonRoot"])

    def test_bindings_name_the_service_account_of_the_operator(self):
        for values, name in (({}, FULLNAME), ({"serviceAccount": {"create": False, "name": "mine"}}, "mine")):
            objects = render(values)
            self.assertEqual(name, deployment(objects)["spec"]["template"]["spec"]["serviceAccountName"])
            bindings = find(objects, "ClusterRoleBinding") + find(objects, "RoleBinding")
            self.assertEqual({(name, NAMESPACE)}, {(s["name"], s["namespace"]) for b in bindings for s in b["subjects"]})
            self.assertEqual(name == FULLNAME, bool(find(objects, "ServiceAccount")))

    def test_leases_are_allowed_only_in_the_namespace_of_the_lease(self):
        for values, namespace, lease in (({}, NAMESPACE, FULLNAME),
                                         ({"leaderElection.namespace": "kube-system"}, "kube-system", f"{NAMESPACE}-{FULLNAME}")):
            objects = render(values)
            roles = [role for role in find(objects, "Role") + find(objects, "ClusterRole")
                     if any("leases" in rule.get("resources", []) for rule in role["rules"])]
            self.assertEqual([("Role", namespace)], [(role["kind"], role["metadata"]["namespace"]) for role in roles])
            self.assertIn(f"--leader-election-id={lease}", container(objects)["args"])
            self.assertEqual([lease], roles[0]["rules"][-1]["resourceNames"])

    def test_no_permissions_are_rendered_without_rbac(self):
        kinds = {item["kind"] for item in render({"rbac.create": False})}
        self.assertFalse(kinds & {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"})

    def test_admin_edit_and_view_get_access_to_foos(self):
        roles = {label: role for role in find(render(), "ClusterRole") for label in role["metadata"]["labels"] if "aggregate-to" in label}
        self.assertEqual({f"rbac.authorization.k8s.io/aggregate-to-{name}" for name in ("admin", "edit", "view")}, set(roles))
        view = roles["rbac.authorization.k8s.io/aggregate-to-view"]
        self.assertEqual({"get", "list", "watch"}, {verb for rule in view["rules"] for verb in rule["verbs"]})
        self.assertEqual({"foos", "foos/status"}, {name for rule in view["rules"] for name in rule["resources"]})

    def test_the_crd_is_that_of_the_manifest(self):
        manifest = yaml.safe_load((ROOT / "controllers/sample/manifests/crd-status-subresource.yaml").read_text())
        (crd,) = find(render(), "CustomResourceDefinition")
        self.assertEqual(manifest["spec"], crd["spec"])
        self.assertEqual({**manifest["metadata"]["annotations"], "helm.sh/resource-policy": "keep"}, crd["metadata"]["annotations"])
        self.assertEqual(manifest["metadata"]["name"], crd["metadata"]["name"])

    def test_the_crd_is_not_kept_or_not_installed_if_the_values_say_so(self):
        (crd,) = find(render({"crds.keep": False}), "CustomResourceDefinition")
        self.assertNotIn("helm.sh/resource-policy", crd["metadata"]["annotations"])
        self.assertEqual([], find(render({"crds.enabled": False}), "CustomResourceDefinition"))

    def test_the_pod_of_helm_test_runs_the_check_with_the_flags_of_the_operator(self):
        objects = render()
        (pod,) = find(objects, "Pod")
        self.assertEqual(["--check", *container(objects)["args"]], pod["spec"]["containers"][0]["args"])
        self.assertEqual(container(objects)["image"], pod["spec"]["containers"][0]["image"])
        self.assertEqual("test", pod["metadata"]["annotations"]["helm.sh/hook"])
        self.assertEqual([], find(render({"tests.enabled": False}), "Pod"))

    def test_a_disruption_budget_and_spread_constraints_exist_only_for_several_replicas(self):
        one, two = render(), render({"replicaCount": 2})
        self.assertEqual([], find(one, "PodDisruptionBudget"))
        self.assertNotIn("topologySpreadConstraints", deployment(one)["spec"]["template"]["spec"])
        (budget,) = find(two, "PodDisruptionBudget")
        self.assertEqual((1, "AlwaysAllow"), (budget["spec"]["maxUnavailable"], budget["spec"]["unhealthyPodEvictionPolicy"]))
        constraints = deployment(two)["spec"]["template"]["spec"]["topologySpreadConstraints"]
        selector = deployment(two)["spec"]["selector"]
        self.assertEqual([selector, selector], [constraint["labelSelector"] for constraint in constraints])

    def test_a_disruption_budget_can_keep_a_number_of_replicas(self):
        (budget,) = find(render({"replicaCount": 3, "podDisruptionBudget.minAvailable": 0}), "PodDisruptionBudget")
        self.assertEqual(0, budget["spec"]["minAvailable"])
        self.assertNotIn("maxUnavailable", budget["spec"])

    def test_images_are_named_by_registry_repository_and_tag_or_digest(self):
        digest = "sha256:" + "0123456789abcdef" * 4
        for image, name in (({}, "sample-controller:0.1.0"),
                            ({"registry": "example.com", "repository": "team/foo", "tag": "v2"}, "example.com/team/foo:v2"),
                            ({"tag": "v2", "digest": digest}, f"sample-controller@{digest}")):
            self.assertEqual(name, container(render({"image": image}))["image"])

    def test_monitors_are_rendered_only_if_the_cluster_serves_them(self):
        kinds = {"ServiceMonitor", "PrometheusRule"}
        values = {"metrics.serviceMonitor.enabled": True, "metrics.prometheusRule.enabled": True}
        self.assertFalse({item["kind"] for item in render(values)} & kinds)
        self.assertEqual(kinds, {item["kind"] for item in render(values, flags=PROMETHEUS)} & kinds)
        always = {**values, "metrics.serviceMonitor.renderMode": "alwaysRender"}
        self.assertEqual(kinds, {item["kind"] for item in render(always)} & kinds)
        with self.assertRaisesRegex(CommandError, "does not serve the kind (ServiceMonitor|PrometheusRule).*Install the Prometheus operator"):
            render({**values, "metrics.serviceMonitor.renderMode": "failIfMissing"})

    def test_monitoring_objects_with_default_settings_fit_the_crds_of_the_prometheus_operator(self):
        for values, kinds in (({"metrics.serviceMonitor.enabled": True}, {"ServiceMonitor"}),
                              ({"metrics.serviceMonitor.enabled": True, "metrics.secure": False}, {"ServiceMonitor"}),
                              ({"metrics.podMonitor.enabled": True, "metrics.secure": False}, {"PodMonitor"}),
                              ({"metrics.prometheusRule.enabled": True}, {"PrometheusRule"})):
            self.assertEqual(kinds, validate_monitoring(render(values, flags=PROMETHEUS)))

    def test_a_field_that_the_crds_of_the_prometheus_operator_do_not_have_is_found(self):
        for name, value in (("relabelings", [{"targetLabl": "cluster"}]), ("relabelings", [{"action": "rename"}]),
                            ("tlsConfig", {"serverNames": "metrics.example.com"})):
            values = {"metrics.serviceMonitor.enabled": True, f"metrics.serviceMonitor.{name}": value}
            with self.assertRaises(jsonschema.ValidationError):
                validate_monitoring(render(values, flags=PROMETHEUS))

    def test_a_service_monitor_sends_a_token_only_over_https(self):
        values = {"metrics.serviceMonitor.enabled": True}
        (monitor,) = find(render(values, flags=PROMETHEUS), "ServiceMonitor")
        endpoint = monitor["spec"]["endpoints"][0]
        self.assertEqual(("https", True), (endpoint["scheme"], "bearerTokenFile" in endpoint))
        (monitor,) = find(render({**values, "metrics.secure": False}, flags=PROMETHEUS), "ServiceMonitor")
        self.assertFalse({"scheme", "bearerTokenFile", "tlsConfig"} & set(monitor["spec"]["endpoints"][0]))

    def test_metrics_that_are_off_have_no_port_service_or_permission(self):
        objects = render({"metrics.enabled": False})
        self.assertEqual([], find(objects, "Service"))
        self.assertEqual(["health"], [port["name"] for port in container(objects)["ports"]])
        self.assertNotRegex(" ".join(container(objects)["args"]), "metrics")
        self.assertEqual([], [role for role in find(objects, "ClusterRole") if "metrics" in role["metadata"]["name"]])

    def test_a_certificate_for_metrics_is_mounted(self):
        objects = render({"metrics.certSecret": "metrics-tls"})
        (mount,) = container(objects)["volumeMounts"]
        self.assertIn(f"--metrics-cert-path={mount['mountPath']}", container(objects)["args"])
        (volume,) = deployment(objects)["spec"]["template"]["spec"]["volumes"]
        self.assertEqual(("metrics-tls", mount["name"]), (volume["secret"]["secretName"], volume["name"]))

    def test_the_network_policy_limits_connections(self):
        (policy,) = find(render({"networkPolicy.metricsFrom": [{"podSelector": {}}]}), "NetworkPolicy")
        self.assertEqual(["Ingress"], policy["spec"]["policyTypes"])
        self.assertEqual([{"podSelector": {}}], policy["spec"]["ingress"][0]["from"])
        (policy,) = find(render({"networkPolicy.egress.enabled": True}), "NetworkPolicy")
        self.assertEqual({53, 443, 6443}, {port["port"] for rule in policy["spec"]["egress"] for port in rule["ports"]})
        self.assertEqual([], find(render({"networkPolicy.enabled": False}), "NetworkPolicy"))

    def test_the_operator_has_five_seconds_less_than_its_pod_to_stop(self):
        objects = render({"terminationGracePeriodSeconds": 60})
        self.assertIn("--graceful-shutdown-timeout=55s", container(objects)["args"])
        self.assertEqual(60, deployment(objects)["spec"]["template"]["spec"]["terminationGracePeriodSeconds"])

    def test_webhooks_have_a_service_two_replicas_and_the_time_to_answer_calls(self):
        objects = render({"webhook.enabled": True, "webhook.shutdownDelaySeconds": 20})
        service = find(objects, "Service", f"{FULLNAME}-webhooks")
        self.assertEqual([443], [port["port"] for port in service["spec"]["ports"]])
        self.assertEqual("webhooks", service["spec"]["ports"][0]["targetPort"])
        ports = {port["name"]: port["containerPort"] for port in container(objects)["ports"]}
        self.assertEqual(9443, ports["webhooks"])
        spec = deployment(objects)["spec"]
        self.assertEqual(2, spec["replicas"])
        self.assertEqual(0, spec["strategy"]["rollingUpdate"]["maxUnavailable"])
        self.assertEqual(55, spec["template"]["spec"]["terminationGracePeriodSeconds"])
        self.assertEqual(1, len(find(objects, "PodDisruptionBudget")))
        (policy,) = find(objects, "NetworkPolicy")
        self.assertIn("webhooks", {port["port"] for rule in policy["spec"]["ingress"] for port in rule["ports"]})
        args = container(objects)["args"]
        for flag in ("--webhook-port=9443", f"--webhook-service={NAMESPACE}/{FULLNAME}-webhooks", "--webhook-shutdown-delay=20s",
                     "--install-webhooks", "--graceful-shutdown-timeout=50s"):
            self.assertIn(flag, args)
        self.assertEqual(3, deployment(render({"webhook.enabled": True, "replicaCount": 3}))["spec"]["replicas"])

    def test_webhooks_are_deleted_before_the_release(self):
        (job,) = find(render({"webhook.enabled": True}), "Job")
        self.assertEqual("pre-delete", job["metadata"]["annotations"]["helm.sh/hook"])
        (uninstall,) = job["spec"]["template"]["spec"]["containers"]
        self.assertEqual(["--uninstall-webhooks", f"--webhook-service={NAMESPACE}/{FULLNAME}-webhooks"], uninstall["args"])

    def test_a_certificate_of_cert_manager_is_mounted_and_named_by_the_configurations(self):
        objects = render({"webhook.enabled": True, "webhook.certManager.enabled": True})
        certificate = find(objects, "Certificate", f"{FULLNAME}-webhooks-serving-cert")  # as --webhook-cert-manager names it
        self.assertIn(f"{FULLNAME}-webhooks.{NAMESPACE}.svc", certificate["spec"]["dnsNames"])
        issuer = find(objects, "Issuer", certificate["spec"]["issuerRef"]["name"])
        self.assertEqual({"selfSigned": {}}, issuer["spec"])
        (volume,) = deployment(objects)["spec"]["template"]["spec"]["volumes"]
        self.assertEqual(certificate["spec"]["secretName"], volume["secret"]["secretName"])
        self.assertIn("--webhook-cert-path=/etc/operator/webhooks", container(objects)["args"])
        self.assertIn("--webhook-cert-manager", container(objects)["args"])
        own = {"kind": "ClusterIssuer", "name": "ca"}
        objects = render({"webhook.enabled": True, "webhook.certManager": {"enabled": True, "issuerRef": own}})
        self.assertEqual(own, find(objects, "Certificate")[0]["spec"]["issuerRef"])
        self.assertEqual([], find(objects, "Issuer"))

    def test_webhooks_that_are_off_are_not_served(self):
        objects = render()
        self.assertIn("--webhook-port=-1", container(objects)["args"])
        self.assertEqual([], [item for item in objects if "webhook" in item["metadata"]["name"]])
        self.assertEqual(1, deployment(objects)["spec"]["replicas"])

    def test_common_labels_and_annotations_are_on_all_objects(self):
        objects = render({"commonLabels": {"team": "a"}, "commonAnnotations": {"owner": "b"}})
        for item in objects:
            self.assertEqual("a", item["metadata"]["labels"]["team"])
            self.assertEqual("b", item["metadata"]["annotations"]["owner"])

    def test_cluster_scoped_names_contain_the_namespace(self):
        for item in render():
            if item["kind"] in ("ClusterRole", "ClusterRoleBinding"):
                self.assertTrue(item["metadata"]["name"].startswith(f"{NAMESPACE}-{FULLNAME}"))

    def test_extra_objects_are_templates(self):
        extra = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "{{ .Release.Name }}-extra"}}
        find(render({"extraObjects": [extra]}), "ConfigMap", f"{RELEASE}-extra")

    def test_alerts_name_the_pods_of_the_release(self):
        (rule,) = find(render({"metrics.prometheusRule.enabled": True}, flags=PROMETHEUS), "PrometheusRule")
        alerts = rule["spec"]["groups"][0]["rules"]
        self.assertGreaterEqual(len(alerts), 6)
        for alert in alerts:
            self.assertRegex(alert["expr"], re.escape(f'namespace="{NAMESPACE}",pod=~"{FULLNAME}-.*"'))
            self.assertEqual({"summary", "description"}, set(alert["annotations"]))

    def test_the_alert_about_the_certificate_starts_the_given_number_of_days_before(self):
        values = {"metrics.prometheusRule.enabled": True, "metrics.prometheusRule.webhookCertificateDays": 2}
        (rule,) = find(render(values, flags=PROMETHEUS), "PrometheusRule")
        self.assertIn("- time() < 172800", str(rule["spec"]["groups"][0]["rules"]))

    def test_the_dashboard_is_json_with_a_query_in_each_panel(self):
        (dashboard,) = find(render({"metrics.grafanaDashboard.enabled": True}), "ConfigMap")
        self.assertEqual("1", dashboard["metadata"]["labels"]["grafana_dashboard"])
        panels = json.loads(dashboard["data"][f"{FULLNAME}.json"])["panels"]
        self.assertGreaterEqual(len(panels), 12)
        for panel in panels:
            self.assertIn('namespace=~"$namespace",pod=~"$pod"', panel["targets"][0]["expr"])
            self.assertRegex(panel["targets"][0]["legendFormat"], r"^\{\{\w+\}\}( \{\{\w+\}\})*$")
