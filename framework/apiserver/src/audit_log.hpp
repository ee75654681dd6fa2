#pragma once

#include "exchange.hpp"
#include "world.hpp"

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// What was asked of the server and how it answered, as a Kubernetes audit log has it
/// (audit.k8s.io/v1): so one program can compare it with a real server's. Writes come with what was
/// sent and what was answered, but for managedFields. The oldest entries make room for new ones.
///
/// Safe to use from any thread.
class AuditLog {
 public:
  explicit AuditLog(World& world) : world_(world) {}

  /// When a request came in, for Write.
  [[nodiscard]] std::string Begin();
  void Write(const Ask& ask, const Reply& reply, const std::string& received);
  [[nodiscard]] std::vector<nlohmann::json> Entries();

 private:
  static constexpr std::size_t kMostEntries = 100'000;

  World& world_;
  Guarded<std::deque<std::string>> entries_;  // as text: a tree takes eight times the memory
};

/// What a request does, as audit logs and RBAC name it: "list", "deletecollection"; of no resource:
/// its method in small letters.
[[nodiscard]] std::string VerbOf(const Ask& ask);

}  // namespace kopp::apiserver
