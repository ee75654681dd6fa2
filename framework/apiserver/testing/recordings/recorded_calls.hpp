#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/transport.hpp>

namespace kopp::apiserver {

/// Answers the calls of one reconcile with the recorded responses, as long as they are the recorded
/// calls. Not thread-safe.
class RecordedCalls final : public Transport {
 public:
  /// Called with the entry of a call before its response is returned.
  using ResponseHandler = std::function<void(const nlohmann::json& entry)>;

  /// `entries` are those of the calls; they must outlive the transport.
  RecordedCalls(const std::vector<const nlohmann::json*>& entries, ResponseHandler on_response)
      : entries_(entries), on_response_(std::move(on_response)) {}

  /// Throws the recorded error, or TransportError (kCancelled) after the first other call.
  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override;
  /// Throws TransportError (kCancelled): the streams of a reconcile are not recorded as calls.
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override;

  /// Returns how the calls so far differ from the recorded ones; empty if they do not.
  /// `is_complete`: the reconcile has ended, so that missing calls are a difference.
  [[nodiscard]] std::string Difference(bool is_complete) const;

 private:
  const std::vector<const nlohmann::json*>& entries_;
  const ResponseHandler on_response_;
  std::size_t next_ = 0;
  std::string difference_;
};

}  // namespace kopp::apiserver
