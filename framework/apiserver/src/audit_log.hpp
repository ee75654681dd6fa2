#pragma once

#include "exchange.hpp"
#include "world.hpp"

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

/// Stands before a server and keeps what it was asked and how it answered, as a Kubernetes audit
/// log has it (audit.k8s.io/v1): so one program can compare it with a real server's. Writes come
/// with what was sent and what was answered, but for managedFields. The oldest entries make room
/// for new ones. What was asked over a connection that was refused is not there: nobody heard it.
///
/// Safe to use from any thread.
class AuditLog final : public Answerer {
 public:
  /// `listener` is given each entry too, where there is one. `most_bytes`: of what is kept.
  AuditLog(World& world, Answerer& server, std::function<void(std::string_view)> listener = {},
           std::size_t most_bytes = std::size_t{64} << 20)
      : world_(world), server_(server), listener_(std::move(listener)), most_bytes_(most_bytes) {}

  Reply Answer(const Ask& ask) override;
  [[nodiscard]] std::vector<nlohmann::json> Entries();

 private:
  struct Kept {
    std::deque<std::string> entries;  // as text: a tree takes eight times the memory
    std::size_t bytes = 0;            // of all of them
  };

  void Write(const Ask& ask, const Reply& reply, const std::string& received);
  void Keep(const std::string& entry);

  World& world_;
  Answerer& server_;
  std::function<void(std::string_view)> listener_;
  const std::size_t most_bytes_;
  Guarded<Kept> kept_;
};

/// What a request does, as audit logs and RBAC name it: "list", "deletecollection"; of no resource:
/// its method in small letters.
[[nodiscard]] std::string VerbOf(const Ask& ask);

}  // namespace kopp::apiserver
