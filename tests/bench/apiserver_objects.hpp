#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

/// A minimal Deployment. `round` is written to an annotation, so that different rounds differ.
inline nlohmann::json MakeDeployment(const std::string& name, std::size_t round) {
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

inline nlohmann::json MakeContainer(const std::string& name) {
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

/// A Pod of typical size: 7.4 kB as stored by a server, including managedFields.
inline nlohmann::json MakePod(const std::string& name, std::size_t number) {
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
            {"containers", {MakeContainer("app"), MakeContainer("sidecar")}},
            {"volumes",
             {{{"name", "config"}, {"configMap", {{"name", "config"}}}},
              {{"name", "data"}, {"emptyDir", nlohmann::json::object()}}}}}}};
}
