#pragma once

// Discovery documents of an API server with Pods, two versions of Deployments and an aggregated API
// for metrics.

namespace kopp {

inline constexpr const char* kAggregatedCore = R"({"kind":"APIGroupDiscoveryList",
  "apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{},"versions":[{"version":"v1",
  "freshness":"Current","resources":[
    {"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},
     "scope":"Namespaced","singularResource":"pod","verbs":["get","list","watch"],
     "shortNames":["po"],"subresources":[{"subresource":"status","verbs":["get"]},
     {"subresource":"log","verbs":["get"]}]},
    {"resource":"nodes","responseKind":{"group":"","version":"v1","kind":"Node"},
     "scope":"Cluster","singularResource":"node","verbs":["get"]}]}]}]})";

inline constexpr const char* kAggregatedGroups = R"({"kind":"APIGroupDiscoveryList",
  "apiVersion":"apidiscovery.k8s.io/v2","items":[
  {"metadata":{"name":"apps"},"versions":[
    {"version":"v1","freshness":"Current","resources":[
      {"resource":"deployments","responseKind":{"kind":"Deployment"},"scope":"Namespaced",
       "singularResource":"deployment","verbs":["get"],"shortNames":["deploy"],
       "subresources":[{"subresource":"scale"},{"subresource":"status"}]}]},
    {"version":"v1beta1","freshness":"Current","resources":[
      {"resource":"deployments","responseKind":{"kind":"Deployment"},"scope":"Namespaced",
       "singularResource":"deployment","verbs":["get"]},
      {"resource":"rollbacks","responseKind":{"kind":"Rollback"},"scope":"Namespaced",
       "singularResource":"rollback","verbs":["create"]}]}]},
  {"metadata":{"name":"metrics.k8s.io"},"versions":[
    {"version":"v1beta1","freshness":"Current","resources":[
      {"resource":"pods","responseKind":{"kind":"PodMetrics"},"scope":"Namespaced",
       "singularResource":"pod","verbs":["get","list"]}]}]}]})";

/// kAggregatedGroups while the server of metrics.k8s.io is down, and no resource of it is known.
inline constexpr const char* kAggregatedGroupsWithoutMetrics = R"({"kind":"APIGroupDiscoveryList",
  "items":[
  {"metadata":{"name":"apps"},"versions":[
    {"version":"v1","freshness":"Current","resources":[
      {"resource":"deployments","responseKind":{"kind":"Deployment"},"scope":"Namespaced"}]}]},
  {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]}]})";

inline constexpr const char* kLegacyCore = R"({"kind":"APIVersions","versions":["v1"]})";
inline constexpr const char* kLegacyGroups = R"({"kind":"APIGroupList","apiVersion":"v1","groups":[
  {"name":"apps","versions":[{"groupVersion":"apps/v1beta1","version":"v1beta1"},
   {"groupVersion":"apps/v1","version":"v1"}],
   "preferredVersion":{"groupVersion":"apps/v1","version":"v1"}},
  {"name":"metrics.k8s.io","versions":[{"groupVersion":"metrics.k8s.io/v1beta1",
   "version":"v1beta1"}],"preferredVersion":{"version":"v1beta1"}}]})";
inline constexpr const char* kLegacyCoreV1 = R"({"kind":"APIResourceList","groupVersion":"v1",
  "resources":[
  {"name":"nodes","singularName":"node","namespaced":false,"kind":"Node","verbs":["get"]},
  {"name":"pods/log","singularName":"","namespaced":true,"kind":"Pod","verbs":["get"]},
  {"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list"],
   "shortNames":["po"]},
  {"name":"pods/status","singularName":"","namespaced":true,"kind":"Pod","verbs":["get"]}]})";
inline constexpr const char* kLegacyAppsV1 = R"({"kind":"APIResourceList","groupVersion":"apps/v1",
  "resources":[{"name":"deployments","singularName":"deployment","namespaced":true,
  "kind":"Deployment","verbs":["get"]}]})";

}  // namespace kopp
