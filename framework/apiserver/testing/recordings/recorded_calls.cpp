#include "recordings/recorded_calls.hpp"

#include "base/timestamp.hpp"
#include "recording/redaction.hpp"

#include <chrono>
#include <set>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

bool IsTimestamp(const json& value) {
  return value.is_string() && detail::ParseTimestamp(value.get_ref<const std::string&>());
}

/// Returns whether `recorded` is a secret value that was removed, and `now` is one that the
/// reconciler did not read from the recording.
bool IsOtherSecret(const json& recorded, const json& now) {
  const auto is_redacted = [](const json& value) {
    return value.is_string() && IsRedacted(value.get_ref<const std::string&>());
  };
  return is_redacted(recorded) && (now.is_string() || now.is_number()) && !is_redacted(now);
}

/// Appends a line for each value in which `now` differs from `recorded`, except timestamps and
/// secret values.
void Compare(const json& recorded, const json& now, const std::string& path, std::string& lines) {
  if (recorded == now || (IsTimestamp(recorded) && IsTimestamp(now))) return;
  if (IsOtherSecret(recorded, now)) return;
  if (recorded.is_object() && now.is_object()) {
    std::set<std::string> names;
    for (const auto& [name, value] : recorded.items()) names.insert(name);
    for (const auto& [name, value] : now.items()) names.insert(name);
    for (const std::string& name : names) {
      const auto value_of = [&](const json& object) {
        return object.contains(name) ? object.at(name) : json(json::value_t::discarded);
      };
      Compare(value_of(recorded), value_of(now), path + '/' + name, lines);
    }
    return;
  }
  if (recorded.is_array() && now.is_array() && recorded.size() == now.size()) {
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      Compare(recorded[i], now[i], path + '/' + std::to_string(i), lines);
    }
    return;
  }
  const auto text = [](const json& value) {
    return value.is_discarded() ? "nothing"
                                : value.dump(-1, ' ', false, json::error_handler_t::replace);
  };
  lines += "\n    " + path + ": " + text(recorded) + ", now " + text(now);
}

std::string DifferenceOfBodies(const std::string& recorded, const std::string& now) {
  if (recorded == now) return {};
  const json recorded_json = json::parse(recorded, nullptr, false);
  const json now_json = json::parse(now, nullptr, false);
  if (recorded_json.is_discarded() || now_json.is_discarded()) {
    return "\n    body " + recorded + "\n    now  " + now;
  }
  std::string lines;
  Compare(recorded_json, now_json, "body", lines);
  return lines;
}

std::string Name(const json& call) {
  return call.at("method").get<std::string>() + ' ' + call.at("target").get<std::string>();
}

ApiResponse ToResponse(const json& entry) {
  ApiResponse response{.status = entry.at("status"), .body = entry.value("body", "")};
  if (entry.contains("retryAfter")) {
    response.retry_after = std::chrono::seconds(entry.at("retryAfter").get<int>());
  }
  response.warnings = entry.value("warnings", std::vector<std::string>());
  return response;
}

}  // namespace

ApiResponse RecordedCalls::Call(const ApiRequest& request, std::stop_token) {
  const std::string now = request.method + ' ' + request.target;
  if (difference_.empty() && next_ == entries_.size()) {
    difference_ = "\n    the call was not recorded: " + now;
  }
  if (difference_.empty()) {
    const json& call = entries_[next_]->at("call");
    if (Name(call) != now) {
      difference_ = "\n    recorded " + Name(call) + "\n    now      " + now;
    } else {
      const std::string body = DifferenceOfBodies(call.value("body", ""), request.body);
      if (!body.empty()) difference_ = "\n    in the body of " + now + body;
    }
  }
  if (!difference_.empty()) {
    throw TransportError(TransportError::Kind::kCancelled,
                         now + ": the recording has no response for this call");
  }
  const json& entry = *entries_[next_++];
  if (entry.contains("response")) {
    on_response_(entry);
    return ToResponse(entry.at("response"));
  }
  const json& error = entry.at("error");
  throw TransportError(static_cast<TransportError::Kind>(error.at("kind").get<int>()),
                       error.at("text"));
}

std::unique_ptr<Stream> RecordedCalls::Open(const ApiRequest& request, std::stop_token) {
  throw TransportError(TransportError::Kind::kCancelled,
                       request.target + ": a replay has no streams");
}

std::string RecordedCalls::Difference(bool is_complete) const {
  if (!difference_.empty() || !is_complete || next_ == entries_.size()) return difference_;
  return "\n    the recorded call is missing: " + Name(entries_[next_]->at("call"));
}

}  // namespace kopp::apiserver
