#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {

using nlohmann::json;

/// Fixture with a server for fault injection, and helpers for ConfigMaps in the namespace
/// "default".
class FaultyServer : public ::testing::Test {
 protected:
  using Fault = testing::Fault;
  using Type = Fault::Type;

  static constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";

  json Create(const std::string& name) {
    return client_.Dynamic(ConfigMap::kKind)
        .Create({{"metadata", {{"name", name}, {"namespace", "default"}}}})
        .Json();
  }
  json SetValue(const std::string& name, const std::string& value) {
    return client_.Dynamic(ConfigMap::kKind)
        .Patch({"default", name}, Patch::Merge({{"data", {{"value", value}}}}))
        .Json();
  }
  std::optional<json> Find(const std::string& name) {
    const auto object = client_.Dynamic(ConfigMap::kKind).Get({"default", name});
    return object ? std::optional(object->Json()) : std::nullopt;
  }

  ApiResponse Call(const std::string& target, const std::string& method = "GET",
                   const std::string& body = "") {
    return transport_.Call({.method = method, .target = target, .body = body});
  }
  json GetJson(const std::string& target) { return json::parse(Call(target).body); }

  std::unique_ptr<Stream> Watch(const std::string& options = "") {
    return transport_.Open({.target = std::string(kMaps) + "?watch=true" + options});
  }
  /// Returns a watch from the current resourceVersion.
  std::unique_ptr<Stream> WatchFromNow(const std::string& options = "") {
    const json list = GetJson(kMaps);
    return Watch("&resourceVersion=" + list["metadata"]["resourceVersion"].get<std::string>() +
                 options);
  }
  /// Returns the events that a watch returns without waiting: "ADDED a", "BOOKMARK ".
  static std::vector<std::string> ReadEvents(Stream& watch) {
    std::vector<std::string> events;
    const auto chunk = watch.Read({});
    std::string_view left = chunk.bytes;
    while (!left.empty()) {
      const std::string_view frame = left.substr(0, left.find('\n') + 1);
      left.remove_prefix(frame.size());
      const json event = json::parse(frame);
      events.push_back(event["type"].get<std::string>() + ' ' +
                       event["object"]["metadata"].value("name", ""));
    }
    return events;
  }
  /// Returns the kind of the TransportError that the next read throws.
  static TransportError::Kind ReadError(Stream& stream) {
    try {
      stream.Read({});
    } catch (const TransportError& error) {
      return error.kind();
    }
    ADD_FAILURE() << "Read did not throw";
    return {};
  }

  /// Returns the status codes of the next `count` GET requests.
  std::vector<int> Statuses(int count, const std::string& target = std::string(kMaps) + "/a") {
    std::vector<int> statuses;
    for (int i = 0; i < count; ++i) statuses.push_back(Call(target).status);
    return statuses;
  }

  testing::FakeClock clock_;
  testing::ApiServer server_{{.clock = clock_}};
  Transport& transport_ = server_.transport();
  Client client_{transport_};
};

}  // namespace kopp
