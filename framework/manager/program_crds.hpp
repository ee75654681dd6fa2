#pragma once

#include <mutex>
#include <string>
#include <vector>

#include <kopp/crd.hpp>
#include <kopp/log.hpp>

namespace kopp {

/// The CustomResourceDefinitions of the kinds that a program has controllers for. Thread-safe.
class ProgramCrds {
 public:
  void Add(detail::CrdSource source);
  /// Throws std::logic_error if a definition is not valid.
  [[nodiscard]] std::vector<CustomResourceDefinition> Definitions() const;
  /// Returns the warnings of --check. A definition that is not valid is one: the program may run
  /// with the definitions that the API server has.
  [[nodiscard]] std::vector<std::string> Warnings() const;
  /// --print-crd. Returns the exit code.
  [[nodiscard]] int Print(const Logger& log) const;

 private:
  mutable std::mutex mutex_;
  std::vector<detail::CrdSource> sources_;
};

}  // namespace kopp
