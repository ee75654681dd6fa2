#pragma once

#include "api/response.hpp"
#include "storage/server_context.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Forwards requests to another handler and logs them as audit.k8s.io/v1 Events, so that a program
/// can compare the log with the log of a real server. Entries of writes contain the request and
/// response objects without managedFields. When the log is full, it drops the oldest entries. A
/// request whose connection a fault refused is not logged.
///
/// Thread-safe. `context` and `server` must outlive it.
class AuditLog final : public RequestHandler {
 public:
  /// Calls `listener`, unless empty, with each entry, in the thread that handles the request.
  /// `max_bytes` limits the total size of the entries.
  AuditLog(ServerContext& context, RequestHandler& server,
           std::function<void(std::string_view)> listener = {},
           std::size_t max_bytes = std::size_t{64} << 20)
      : context_(context), server_(server), listener_(std::move(listener)), max_bytes_(max_bytes) {}

  ServerResponse Handle(const ServerRequest& request) override;
  /// Returns the logged entries, oldest first.
  [[nodiscard]] std::vector<nlohmann::json> Entries();

 private:
  struct Buffer {
    std::deque<std::string> entries;  // as text: parsed JSON needs eight times the memory
    std::size_t bytes = 0;            // total size of `entries`
  };

  void Log(const ServerRequest& request, const ServerResponse& response,
           const std::string& received);
  void Append(const std::string& entry);

  ServerContext& context_;
  RequestHandler& server_;
  std::function<void(std::string_view)> listener_;
  const std::size_t max_bytes_;
  detail::Guarded<Buffer> buffer_;
};

}  // namespace kopp::apiserver
