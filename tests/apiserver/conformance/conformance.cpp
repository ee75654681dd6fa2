#include "conformance.hpp"

#include "all_extensions.hpp"
#include "environment/extended_api_server.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include <kopp/config.hpp>

namespace kopp::conformance {
namespace {

// kube-apiserver caches for 10 s that a token is valid.
constexpr Duration kTimeout = 60s;

const char* RealKubeconfig() { return std::getenv("KOPP_CONFORMANCE_KUBECONFIG"); }

bool IsOverHttps() { return std::getenv("KOPP_CONFORMANCE_HTTPS") != nullptr; }

/// The API server of all tests. It stops after the last test, before the process exits: its threads
/// free memory through OpenSSL, which is no longer available at process exit.
class ServerEnvironment final : public ::testing::Environment {
 public:
  [[nodiscard]] Transport& transport() { return transport_ ? *transport_ : server_->transport(); }
  /// Returns the configuration of the administrator for a connection over HTTPS.
  [[nodiscard]] const Config& config() {
    if (!config_) config_ = server_->Listen({.tls = true});
    return *config_;
  }

 private:
  void SetUp() override {
    if (RealKubeconfig() != nullptr) return Connect(LoadConfig({.kubeconfig = RealKubeconfig()}));
    server_.emplace(apiserver::AllExtensions(),
                    testing::ApiServerOptions{.authorization = testing::AuthorizationMode::kRbac});
    if (IsOverHttps()) Connect(server_->Listen({.tls = true}));
  }
  void TearDown() override {
    transport_.reset();
    server_.reset();
  }
  void Connect(const Config& config) {
    config_ = config;
    transport_ = MakeTransport(config, {.calls = TransportOptions::Calls::kBeast});
  }

  std::optional<testing::ExtendedApiServer> server_;
  std::optional<Config> config_;
  std::unique_ptr<Transport> transport_;
};

ServerEnvironment* const server_environment = [] {
  auto owned = std::make_unique<ServerEnvironment>();
  ServerEnvironment* const environment = owned.get();
  ::testing::AddGlobalTestEnvironment(owned.release());  // gtest takes ownership
  return environment;
}();

JsonResponse ParseResponse(ApiResponse response) {
  json body = json::parse(response.body, nullptr, false);
  if (body.is_discarded()) body = nullptr;
  return {response.status, std::move(body), std::move(response.body), std::move(response.warnings),
          response.retry_after};
}

/// Removes the first complete event from `buffer` and returns it. Returns null if no event is
/// complete yet.
json PopEvent(std::string& buffer) {
  const auto end = buffer.find('\n');
  if (end == std::string::npos) return nullptr;
  json event = json::parse(buffer.substr(0, end));
  buffer.erase(0, end + 1);
  return event;
}

std::string RandomLetters() {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::random_device random;
  std::string letters;
  for (int i = 0; i < 6; ++i) letters += kLetters[random() % kLetters.size()];
  return letters;
}

}  // namespace

json JsonResponse::at(const std::string& pointer) const {
  const json::json_pointer location(pointer);
  return body.contains(location) ? body.at(location) : json();
}

std::string JsonResponse::str(const std::string& pointer) const {
  const json value = at(pointer);
  return value.is_string() ? value.get<std::string>() : "";
}

json Watch::NextEvent() {
  const TimePoint deadline = Clock::Real().Now() + kTimeout;
  for (;;) {
    if (json event = PopEvent(buffer_); !event.is_null()) return event;
    const Stream::Chunk chunk = stream_->Read(deadline - Clock::Real().Now());
    if (chunk.state != Stream::State::kBytes) return nullptr;
    buffer_ += chunk.bytes;
  }
}

json Watch::NextNonBookmark() {
  for (;;) {
    json event = NextEvent();
    if (event.is_null() || event["type"] != "BOOKMARK") return event;
  }
}

bool Watch::WaitForEnd() {
  const TimePoint deadline = Clock::Real().Now() + kTimeout;
  for (;;) {
    const Stream::Chunk chunk = stream_->Read(deadline - Clock::Real().Now());
    if (chunk.state != Stream::State::kBytes) return chunk.state == Stream::State::kEnd;
  }
}

bool ConformanceTest::IsRealServer() { return RealKubeconfig() != nullptr; }

Transport& ConformanceTest::ServerTransport() { return server_environment->transport(); }

JsonResponse ConformanceTest::Call(const ApiRequest& request) {
  return ParseResponse(ServerTransport().Call(request));
}

JsonResponse ConformanceTest::Get(const std::string& target) { return Call({.target = target}); }

JsonResponse ConformanceTest::Post(const std::string& target, const json& body) {
  return Call({.method = "POST", .target = target, .body = body.dump()});
}

JsonResponse ConformanceTest::Put(const std::string& target, const json& body) {
  return Call({.method = "PUT", .target = target, .body = body.dump()});
}

JsonResponse ConformanceTest::MergePatch(const std::string& target, const json& patch) {
  return Call({.method = "PATCH",
               .target = target,
               .body = patch.dump(),
               .content_type = "application/merge-patch+json"});
}

JsonResponse ConformanceTest::JsonPatch(const std::string& target, const json& operations) {
  return Call({.method = "PATCH",
               .target = target,
               .body = operations.dump(),
               .content_type = "application/json-patch+json"});
}

JsonResponse ConformanceTest::Apply(const std::string& target, const json& object,
                                    const std::string& manager, const std::string& extra_query) {
  return Call({.method = "PATCH",
               .target = target + "?fieldManager=" + manager + extra_query,
               .body = object.dump(),
               .content_type = "application/apply-patch+yaml"});
}

JsonResponse ConformanceTest::Delete(const std::string& target, const json& options) {
  return Call(
      {.method = "DELETE", .target = target, .body = options.is_null() ? "" : options.dump()});
}

std::unique_ptr<Watch> ConformanceTest::StartWatch(const std::string& target) {
  return std::make_unique<Watch>(ServerTransport().Open({.target = target}));
}

JsonResponse ConformanceTest::CallAs(const ImpersonationConfig& user, const ApiRequest& request) {
  Config config = server_environment->config();
  config.impersonate = user;
  return ParseResponse(MakeTransport(config)->Call(request));
}

JsonResponse ConformanceTest::CallWithToken(const std::string& token, const ApiRequest& request,
                                            const ImpersonationConfig& user) {
  const Config& admin = server_environment->config();
  Config config{.server = admin.server,
                .certificate_authority = admin.certificate_authority,
                .source = admin.source};
  config.certificate_authority_file = admin.certificate_authority_file;
  config.token = token;
  config.impersonate = user;
  return ParseResponse(
      MakeTransport(config, {.calls = TransportOptions::Calls::kBeast})->Call(request));
}

std::string ConformanceTest::UniqueName(const std::string& name) {
  static const std::string process = RandomLetters();  // several processes may share a server
  static std::atomic<int> count = 0;
  return name + '-' + process + std::to_string(++count);
}

const std::string& ConformanceTest::ns() {
  if (ns_.empty()) {
    const std::string name = UniqueName("conformance");
    const JsonResponse created = Post("/api/v1/namespaces", {{"metadata", {{"name", name}}}});
    EXPECT_EQ(created.status, 201) << created.text;
    ns_ = name;
  }
  return ns_;
}

std::string ConformanceTest::PodsPath() {
  Post(Path("serviceaccounts"), {{"metadata", {{"name", "default"}}}});
  return Path("pods");
}

JsonResponse Eventually(int status, const std::function<JsonResponse()>& send_request) {
  const TimePoint deadline = Clock::Real().Now() + kTimeout;
  JsonResponse response = send_request();
  while (response.status != status && Clock::Real().Now() < deadline) {
    std::this_thread::sleep_for(20ms);
    response = send_request();
  }
  return response;
}

std::vector<std::string> Causes(const JsonResponse& response) {
  std::vector<std::string> causes;
  for (const json& cause : response.at("/details/causes")) {
    causes.push_back(cause.value("reason", "") + " " + cause.value("field", "") + ": " +
                     cause.value("message", ""));
  }
  return causes;
}

std::vector<std::string> ItemNames(const JsonResponse& list) {
  std::vector<std::string> names;
  for (const json& item : list.at("/items")) names.push_back(item["metadata"]["name"]);
  return names;
}

json MakeObjectWithName(const std::string& name) { return {{"metadata", {{"name", name}}}}; }

json MakeConfigMap(const std::string& name) { return MakeObjectWithName(name); }

json MakeDeployment(const std::string& name) {
  const json labels{{"app", name}};
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"selector", {{"matchLabels", labels}}},
            {"template", {{"metadata", {{"labels", labels}}}, {"spec", MakePod(name)["spec"]}}}}}};
}

json MakePod(const std::string& name) {
  return {{"metadata", {{"name", name}}},
          {"spec", {{"containers", {{{"name", "nginx"}, {"image", "nginx:1.27"}}}}}}};
}

}  // namespace kopp::conformance
