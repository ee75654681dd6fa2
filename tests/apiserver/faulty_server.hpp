#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {

using nlohmann::json;

/// A server to which faults are injected, and its ConfigMaps.
class FaultyServer : public ::testing::Test {
 protected:
  using Fault = testing::Fault;
  using What = Fault::What;

  static constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

  json Make(const std::string& name) {
    return client_.Create(ConfigMap::kKind,
                          {{"metadata", {{"name", name}, {"namespace", "default"}}}});
  }
  json Change(const std::string& name, const std::string& value) {
    return client_.Patch(ConfigMap::kKind, {"default", name},
                         Patch::Merge({{"data", {{"value", value}}}}));
  }
  std::optional<json> Find(const std::string& name) {
    return client_.Get(ConfigMap::kKind, {"default", name});
  }

  Response Ask(const std::string& target, const std::string& method = "GET",
               const std::string& body = "") {
    return transport_.Call({.method = method, .target = target, .body = body});
  }
  json AskJson(const std::string& target) { return json::parse(Ask(target).body); }

  std::unique_ptr<Stream> Watch(const std::string& options = "") {
    return transport_.Open({.target = std::string(kMaps) + "?watch=true" + options});
  }
  /// From the state that there is now.
  std::unique_ptr<Stream> WatchFromNow(const std::string& options = "") {
    const json list = AskJson(kMaps);
    return Watch("&resourceVersion=" + list["metadata"]["resourceVersion"].get<std::string>() +
                 options);
  }
  /// What a watch has to say at once: "ADDED a", "BOOKMARK ".
  static std::vector<std::string> Told(Stream& watch) {
    std::vector<std::string> told;
    const auto chunk = watch.Read({});
    std::string_view left = chunk.bytes;
    while (!left.empty()) {
      const std::string_view frame = left.substr(0, left.find('\n') + 1);
      left.remove_prefix(frame.size());
      const json event = json::parse(frame);
      told.push_back(event["type"].get<std::string>() + ' ' +
                     event["object"]["metadata"].value("name", ""));
    }
    return told;
  }
  static TransportError::Kind BreakOf(Stream& stream) {
    try {
      stream.Read({});
    } catch (const TransportError& error) {
      return error.kind();
    }
    ADD_FAILURE() << "the stream is whole";
    return {};
  }

  /// The status of the next answers to a get.
  std::vector<int> Statuses(int count, const std::string& target = std::string(kMaps) + "/a") {
    std::vector<int> statuses;
    for (int i = 0; i < count; ++i) statuses.push_back(Ask(target).status);
    return statuses;
  }

  testing::FakeClock clock_;
  testing::ApiServer server_{{.clock = clock_}};
  Transport& transport_ = server_.transport();
  Client client_{transport_};
};

}  // namespace kopp
