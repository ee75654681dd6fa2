#pragma once

#include "conformance.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kopp/http_server.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::conformance {

/// Returns the field `response` of a review that allows the request, with a JSON patch unless that
/// is null.
json Allowed(const json& patch = nullptr);
/// Returns that of a review that denies the request with a Status.
json Denied(const json& status);

/// Fixture of tests whose webhooks the API server calls over HTTPS. The webhooks are called for the
/// objects in the namespace of the test only.
class WebhookCallTest : public ConformanceTest {
 public:
  /// Returns the field `response` for the field `request` of a review.
  using Respond = std::function<json(const json& request)>;

 protected:
  enum class Type { kMutating, kValidating };
  /// A webhook for all writes of ConfigMaps, unless its fields say otherwise.
  struct Webhook {
    Respond respond = [](const json&) { return Allowed(); };
    /// Merged into the webhook of the configuration.
    json fields = json::object();
    /// Changes the body of the HTTP response, and its status.
    std::function<void(HttpResponse& response)> change_response = {};
    /// Whether the configuration names the Service "hooks" of the namespace in place of a URL.
    bool at_service = false;
    /// Whether the path of the URL has dots and more slashes than needed.
    bool has_unclean_path = false;
    /// The caBundle in PEM; empty: the certificates of the system. Default: the CA of the webhooks.
    std::optional<std::string> ca_bundle{};
  };

  ~WebhookCallTest() override;

  /// Creates a configuration with these webhooks, and blocks until the server calls them. Their
  /// names are "w0.example.com", "w1.example.com" …. `suffix` is the end of the name of the
  /// configuration; empty: the number of the configuration in the test.
  void Install(Type type, std::vector<Webhook> webhooks, const std::string& suffix = "");
  void Install(Type type, Webhook webhook, const std::string& suffix = "") {
    Install(type, std::vector{std::move(webhook)}, suffix);
  }

  /// Returns the requests that the webhooks have received, without those of Install. Each has the
  /// query and the Host header of the HTTP request, the version of the review, and in the field
  /// `webhook` the name of the webhook: "w0.example.com".
  std::vector<json> Requests() { return *requests_.Lock(); }

  /// Returns a rule for operations on resources of a group version.
  static json Rule(const std::vector<std::string>& operations, const std::string& resource,
                   const std::string& group = "", const std::string& version = "v1");

  /// Blocks until the cache of the server has the object at `path` as it is now. A kube-apiserver
  /// begins a write with the object of its cache. If that is out of date, the server repeats the
  /// write with the stored object, and calls the webhooks again.
  static void AwaitCache(const std::string& path);

  /// Returns the result of the create of a ConfigMap.
  JsonResponse CreateMap(const std::string& name, const json& data = json::object());

 private:
  void StartServer();
  /// Returns the clientConfig of `webhook` with this path.
  [[nodiscard]] json ClientConfig(const std::string& path, const Webhook& webhook);
  HttpResponse HandleRequest(const HttpRequest& request);

  detail::Guarded<std::vector<json>> requests_;
  detail::Guarded<std::map<std::string, Webhook>> webhooks_;  // by path
  detail::Guarded<int> probes_{0};
  std::vector<std::string> configurations_;  // paths
  std::unique_ptr<HttpServer> server_;
  std::string authority_;
};

}  // namespace kopp::conformance
