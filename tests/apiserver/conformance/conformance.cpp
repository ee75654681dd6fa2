#include "conformance.hpp"

#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include <kopp/config.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp::conformance {
namespace {

constexpr Duration kPatience = 10s;

const char* RealKubeconfig() { return std::getenv("KOPP_CONFORMANCE_KUBECONFIG"); }

bool IsOverHttps() { return std::getenv("KOPP_CONFORMANCE_HTTPS") != nullptr; }

/// The server of all tests. It ends with them, not with the process: its threads leave memory with
/// OpenSSL, which is gone by then.
class Served final : public ::testing::Environment {
 public:
  [[nodiscard]] Transport& transport() { return transport_ ? *transport_ : server_->transport(); }

 private:
  void SetUp() override {
    if (RealKubeconfig() != nullptr) return Connect(LoadConfig({.kubeconfig = RealKubeconfig()}));
    server_.emplace();
    if (IsOverHttps()) Connect(server_->Listen({.tls = true}));
  }
  void TearDown() override {
    transport_.reset();
    server_.reset();
  }
  void Connect(const Config& config) {
    transport_ = MakeTransport(config, {.calls = TransportOptions::Calls::kBeast});
  }

  std::optional<testing::ApiServer> server_;
  std::unique_ptr<Transport> transport_;
};

Served* const served = [] {
  auto made = std::make_unique<Served>();
  Served* const here = made.get();
  ::testing::AddGlobalTestEnvironment(made.release());  // which owns it
  return here;
}();

Answer Read(Response response) {
  json body = json::parse(response.body, nullptr, false);
  if (body.is_discarded()) body = nullptr;
  return {response.status, std::move(body), std::move(response.body), std::move(response.warnings),
          response.retry_after};
}

/// The first whole event in `input`, which loses it; null where there is none yet.
json TakeEvent(std::string& input) {
  const auto end = input.find('\n');
  if (end == std::string::npos) return nullptr;
  json event = json::parse(input.substr(0, end));
  input.erase(0, end + 1);
  return event;
}

}  // namespace

json Answer::at(const std::string& pointer) const {
  const json::json_pointer to(pointer);
  return body.contains(to) ? body.at(to) : json();
}

std::string Answer::str(const std::string& pointer) const {
  const json found = at(pointer);
  return found.is_string() ? found.get<std::string>() : "";
}

json Watch::Next() {
  const TimePoint deadline = Clock::Real().Now() + kPatience;
  for (;;) {
    if (json event = TakeEvent(input_); !event.is_null()) return event;
    const Stream::Chunk chunk = stream_->Read(deadline - Clock::Real().Now());
    if (chunk.state != Stream::State::kBytes) return nullptr;
    input_ += chunk.bytes;
  }
}

json Watch::NextChange() {
  for (;;) {
    json event = Next();
    if (event.is_null() || event["type"] != "BOOKMARK") return event;
  }
}

bool Watch::Ends() {
  const TimePoint deadline = Clock::Real().Now() + kPatience;
  for (;;) {
    const Stream::Chunk chunk = stream_->Read(deadline - Clock::Real().Now());
    if (chunk.state != Stream::State::kBytes) return chunk.state == Stream::State::kEnd;
  }
}

bool ConformanceTest::IsReal() { return RealKubeconfig() != nullptr; }

Transport& ConformanceTest::Server() { return served->transport(); }

Answer ConformanceTest::Call(const Request& request) { return Read(Server().Call(request)); }

Answer ConformanceTest::Get(const std::string& target) { return Call({.target = target}); }

Answer ConformanceTest::Post(const std::string& target, const json& body) {
  return Call({.method = "POST", .target = target, .body = body.dump()});
}

Answer ConformanceTest::Put(const std::string& target, const json& body) {
  return Call({.method = "PUT", .target = target, .body = body.dump()});
}

Answer ConformanceTest::MergePatch(const std::string& target, const json& patch) {
  return Call({.method = "PATCH",
               .target = target,
               .body = patch.dump(),
               .content_type = "application/merge-patch+json"});
}

Answer ConformanceTest::JsonPatch(const std::string& target, const json& operations) {
  return Call({.method = "PATCH",
               .target = target,
               .body = operations.dump(),
               .content_type = "application/json-patch+json"});
}

Answer ConformanceTest::Apply(const std::string& target, const json& object,
                              const std::string& manager, const std::string& more) {
  return Call({.method = "PATCH",
               .target = target + "?fieldManager=" + manager + more,
               .body = object.dump(),
               .content_type = "application/apply-patch+yaml"});
}

Answer ConformanceTest::Delete(const std::string& target, const json& options) {
  return Call(
      {.method = "DELETE", .target = target, .body = options.is_null() ? "" : options.dump()});
}

std::unique_ptr<Watch> ConformanceTest::StartWatch(const std::string& target) {
  return std::make_unique<Watch>(Server().Open({.target = target}));
}

std::string ConformanceTest::Unique(const std::string& name) {
  static std::mt19937 chance{std::random_device{}()};
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string unique = name + '-';
  for (int i = 0; i < 6; ++i) unique += kLetters[chance() % kLetters.size()];
  return unique;
}

const std::string& ConformanceTest::ns() {
  if (ns_.empty()) {
    const std::string name = Unique("conformance");
    const Answer made = Post("/api/v1/namespaces", {{"metadata", {{"name", name}}}});
    EXPECT_EQ(made.status, 201) << made.text;
    ns_ = name;
  }
  return ns_;
}

std::string ConformanceTest::Pods() {
  Post(Path("serviceaccounts"), {{"metadata", {{"name", "default"}}}});
  return Path("pods");
}

Answer Eventually(int status, const std::function<Answer()>& ask) {
  const TimePoint deadline = Clock::Real().Now() + kPatience;
  Answer answer = ask();
  while (answer.status != status && Clock::Real().Now() < deadline) {
    std::this_thread::sleep_for(20ms);
    answer = ask();
  }
  return answer;
}

std::vector<std::string> Causes(const Answer& answer) {
  std::vector<std::string> causes;
  for (const json& cause : answer.at("/details/causes")) {
    causes.push_back(cause.value("reason", "") + " " + cause.value("field", "") + ": " +
                     cause.value("message", ""));
  }
  return causes;
}

std::vector<std::string> Names(const Answer& list) {
  std::vector<std::string> names;
  for (const json& item : list.at("/items")) names.push_back(item["metadata"]["name"]);
  return names;
}

json AConfigMap(const std::string& name) { return {{"metadata", {{"name", name}}}}; }

json ADeployment(const std::string& name) {
  const json labels{{"app", name}};
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"selector", {{"matchLabels", labels}}},
            {"template", {{"metadata", {{"labels", labels}}}, {"spec", APod(name)["spec"]}}}}}};
}

json APod(const std::string& name) {
  return {{"metadata", {{"name", name}}},
          {"spec", {{"containers", {{{"name", "nginx"}, {"image", "nginx:1.27"}}}}}}};
}

}  // namespace kopp::conformance
