#pragma once

#include "collector.hpp"
#include "world.hpp"
#include "writes.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Keeps what is served in step with the CustomResourceDefinitions: at once, where the real server
/// takes a second. Safe to use from any thread.
class Registrar {
 public:
  Registrar(World& world, Writes& writes);

  /// Draws the consequences of a write to whatever it was.
  void Follow();

 private:
  /// A definition as it was last seen.
  struct Known {
    StoredPtr stored{};
    nlohmann::json definition{};
    nlohmann::json served{};  // what the resources that are served were made of; null: none are
  };

  [[nodiscard]] std::set<std::string> ReadAgain();
  void JudgeAll(const std::set<std::string>& groups);
  void Serve(Known& known);
  void EndServing(const nlohmann::json& definition);
  void CleanUp(const Known& known);
  void Release(const ObjectKey& key);
  bool Put(const Known& known, nlohmann::json definition);

  World& world_;
  Writes& writes_;
  Collector collector_;
  std::atomic<unsigned> written_ = 0;  // definitions, until now
  std::atomic<unsigned> settled_ = 0;  // of them, those whose consequences are drawn
  std::atomic<bool> waits_ = false;    // a definition is gone when its last object is
  std::mutex settling_;
  std::map<std::string, Known> known_;  // by name; guarded by settling_
  Store::Listener listener_;            // last: it calls
};

}  // namespace kopp::apiserver
