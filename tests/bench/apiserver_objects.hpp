#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

/// A Deployment as small as they come; `round` is what tells its states apart.
inline nlohmann::json ADeployment(const std::string& name, std::size_t round) {
  const nlohmann::json labels{{"app", "web"}};
  const nlohmann::json pod{{"containers", {{{"name", "web"}, {"image", "nginx:1.27"}}}}};
  return {{"apiVersion", "apps/v1"},
          {"kind", "Deployment"},
          {"metadata", {{"name", name}, {"annotations", {{"round", std::to_string(round)}}}}},
          {"spec",
           {{"replicas", 1},
            {"selector", {{"matchLabels", labels}}},
            {"template", {{"metadata", {{"labels", labels}}}, {"spec", pod}}}}}};
}

inline nlohmann::json AContainer(const std::string& name) {
  nlohmann::json variables = nlohmann::json::array();
  for (int i = 10; i < 22; ++i) {
    variables.push_back({{"name", "SETTING_" + std::to_string(i)},
                         {"value", name + "-" + std::to_string(i) + ".internal:8080"}});
  }
  return {{"name", name},
          {"image", "registry.example.com/team/" + name + ":v1.2.3"},
          {"args", {"--listen=:8080", "--log-level=info"}},
          {"env", variables},
          {"resources",
           {{"requests", {{"cpu", "100m"}, {"memory", "128Mi"}}},
            {"limits", {{"cpu", "500m"}, {"memory", "512Mi"}}}}},
          {"livenessProbe", {{"exec", {{"command", {"/bin/true"}}}}, {"periodSeconds", 10}}},
          {"volumeMounts",
           {{{"name", "config"}, {"mountPath", "/etc/app"}},
            {{"name", "data"}, {"mountPath", "/var/lib/app"}}}}};
}

/// A Pod as clusters have them: 7.4 kB where a server keeps it, managedFields included.
inline nlohmann::json APod(const std::string& name, std::size_t number) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", name},
            {"labels",
             {{"app.kubernetes.io/name", "web-frontend"},
              {"app.kubernetes.io/instance", "inst-" + std::to_string(number % 50)},
              {"pod-template-hash", "7d4b9c6f5"}}},
            {"annotations", {{"checksum/config", "f7c3bc1d808e04732adf679965ccc34ca7ae3441"}}}}},
          {"spec",
           {{"nodeName", "node-" + std::to_string(number % 200)},
            {"containers", {AContainer("app"), AContainer("sidecar")}},
            {"volumes",
             {{{"name", "config"}, {"configMap", {{"name", "config"}}}},
              {{"name", "data"}, {"emptyDir", nlohmann::json::object()}}}}}}};
}
