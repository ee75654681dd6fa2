#include "admission/webhook_test_server.hpp"

#include "base/base64.hpp"
#include "support/certificates.hpp"

#include <utility>

namespace kopp::conformance {
namespace {

constexpr const char* kProbe = "/probe";

/// Returns the name of the webhook at this position of its configuration.
std::string NameOf(const std::string& position) { return "w" + position + ".example.com"; }

}  // namespace

json Allowed(const json& patch) {
  if (patch.is_null()) return {{"allowed", true}};
  return {{"allowed", true},
          {"patchType", "JSONPatch"},
          {"patch", kopp::detail::EncodeBase64(patch.dump())}};
}

json Denied(const json& status) { return {{"allowed", false}, {"status", status}}; }

WebhookCallTest::~WebhookCallTest() {
  for (const std::string& path : configurations_) Delete(path);
}

json WebhookCallTest::Rule(const std::vector<std::string>& operations, const std::string& resource,
                           const std::string& group, const std::string& version) {
  return {{"operations", operations},
          {"apiGroups", {group}},
          {"apiVersions", {version}},
          {"resources", {resource}}};
}

void WebhookCallTest::AwaitCache(const std::string& path) {
  const JsonResponse stored = Get(path);
  ASSERT_EQ(stored.status, 200) << stored.text;
  // A read at a version waits for the cache.
  EXPECT_EQ(Get(path + "?resourceVersion=" + stored.resource_version()).status, 200);
}

JsonResponse WebhookCallTest::CreateMap(const std::string& name, const json& data) {
  json map = MakeConfigMap(name);
  if (!data.empty()) map["data"] = data;
  return Post(Path("configmaps"), map);
}

void WebhookCallTest::StartServer() {
  const testing::CertificateAuthority authority;
  // The name is that of the Service, and "localhost" is not in the certificate.
  const auto identity =
      authority.Issue({.subject_alt_names = "IP:127.0.0.1,DNS:hooks." + ns() + ".svc"});
  authority_ = authority.certificate();
  server_ = std::make_unique<HttpServer>(
      HttpServerOptions{.address = "127.0.0.1:0",
                        .tls = HttpServerTls{identity.certificate, identity.key},
                        .max_body = 1 << 20},
      HttpServer::Routes{
          {"/",
           {[this](const HttpRequest& request) { return HandleRequest(request); }, {"POST"}, 4}}});
}

json WebhookCallTest::ClientConfig(const std::string& path, const Webhook& webhook) {
  const std::string address = server_->address();
  json config;
  if (const std::string bundle = webhook.ca_bundle.value_or(authority_); !bundle.empty()) {
    config["caBundle"] = kopp::detail::EncodeBase64(bundle);
  }
  if (webhook.at_service) {
    config["service"] = {{"namespace", ns()},
                         {"name", "hooks"},
                         {"port", std::stoi(address.substr(address.rfind(':') + 1))},
                         {"path", path}};
  } else {
    config["url"] = "https://" + address + (webhook.has_unclean_path ? "//." + path + '/' : path);
  }
  return config;
}

void WebhookCallTest::Install(Type type, std::vector<Webhook> webhooks, const std::string& suffix) {
  if (server_ == nullptr) StartServer();
  const json selector{
      {"matchExpressions",
       {{{"key", "kubernetes.io/metadata.name"}, {"operator", "In"}, {"values", {ns()}}}}}};
  const std::string prefix = "/" + std::to_string(configurations_.size()) + "/";
  json all = json::array();
  for (std::size_t n = 0; n <= webhooks.size(); ++n) {  // the first one is the probe
    const bool is_probe = n == 0;
    const std::size_t i = n - 1;
    const std::string path = is_probe ? kProbe : prefix + std::to_string(i);
    json webhook{{"name", is_probe ? "probe.example.com" : NameOf(std::to_string(i))},
                 {"clientConfig", ClientConfig(path, is_probe ? Webhook{} : webhooks[i])},
                 {"admissionReviewVersions", {"v1"}},
                 {"sideEffects", "None"},
                 {"timeoutSeconds", 5},
                 {"namespaceSelector", selector},
                 {"rules", {Rule({"*"}, "configmaps")}}};
    if (is_probe) {
      webhook["objectSelector"] = {{"matchLabels", {{"probe", prefix.substr(1, 1)}}}};
    } else {
      webhook["objectSelector"] = {
          {"matchExpressions", {{{"key", "probe"}, {"operator", "DoesNotExist"}}}}};
      webhook.update(webhooks[i].fields);
      (*webhooks_.Lock())[path] = webhooks[i];
    }
    all.push_back(webhook);
  }
  const char* plural =
      type == Type::kMutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations";
  const std::string collection = std::string("/apis/admissionregistration.k8s.io/v1/") + plural;
  const std::string name =
      ns() + "-" + (suffix.empty() ? std::to_string(configurations_.size()) : suffix);
  const JsonResponse created =
      Post(collection, {{"metadata", {{"name", name}}}, {"webhooks", all}});
  ASSERT_EQ(created.status, 201) << created.text;
  configurations_.push_back(collection + "/" + name);
  // A kube-apiserver reads configurations a little later.
  json probe = MakeConfigMap("probe");
  probe["metadata"]["labels"] = {{"probe", prefix.substr(1, 1)}};
  *probes_.Lock() = 0;
  static_cast<void>(Eventually(999, [&] {
    JsonResponse response = Post(Path("configmaps") + "?dryRun=All", probe);
    if (*probes_.Lock() > 0) response.status = 999;
    return response;
  }));
  requests_.Lock()->clear();
}

HttpResponse WebhookCallTest::HandleRequest(const HttpRequest& request) {
  const json review = json::parse(request.body);
  HttpResponse response{.content_type = "application/json"};
  json answer{{"apiVersion", review.at("apiVersion")}, {"kind", review.at("kind")}};
  Webhook webhook;
  if (request.path == kProbe) {
    ++*probes_.Lock();
  } else {
    webhook = webhooks_.Lock()->at(request.path);
    json received = review.at("request");
    received["webhook"] = NameOf(request.path.substr(request.path.rfind('/') + 1));
    received["query"] = request.query;
    received["host"] = request.Header("host");
    received["reviewVersion"] = review.at("apiVersion");
    requests_.Lock()->push_back(std::move(received));
  }
  answer["response"] = webhook.respond(review.at("request"));
  if (!answer["response"].contains("uid")) {
    answer["response"]["uid"] = review.at("/request/uid"_json_pointer);
  }
  response.body = answer.dump();
  if (webhook.change_response) webhook.change_response(response);
  return response;
}

}  // namespace kopp::conformance
