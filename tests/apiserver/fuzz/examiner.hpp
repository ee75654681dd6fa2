#pragma once

#include "api.hpp"
#include "audit_log.hpp"
#include "script.hpp"
#include "world.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::apiserver::fuzz {

/// An answer that cannot be right, whatever was asked.
class Finding : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// A small server, and one who asks it and looks at each answer. It has the custom kind Foo, and
/// "a" of some kinds in the namespace default.
class Examiner {
 public:
  Examiner();

  /// Returns the answer's status, 0 for a wait. Throws a Finding where the answer is the server's
  /// surprise (500 InternalError) or says it is JSON and is not, where it is an object that cannot
  /// be read afterwards as it was answered, and for frames of the watches so far that are no
  /// events.
  int Do(const Step& step);
  /// Throws a Finding where what was asked cannot be told.
  void Finish();

 private:
  void CheckAnswer(const Reply& reply) const;
  void CheckReadBack(const Ask& write, const Reply& reply);
  void CheckFrames(const std::string& frames) const;

  testing::FakeClock clock_;
  World world_;
  Api api_;
  AuditLog log_;
  std::vector<std::unique_ptr<Feed>> feeds_;
};

}  // namespace kopp::apiserver::fuzz
