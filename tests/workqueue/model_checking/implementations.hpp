#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace kopp::model_checking {

/// The implementations of an interface under test, indexed by name. The name "" is the real
/// implementation; the others are copies with a planted bug, or unchanged copies. `Factories`
/// creates the objects of an implementation. The tests are compiled once, and run with every
/// implementation.
template <typename Factories>
class Implementations {
 public:
  /// Registers an implementation when the program starts.
  Implementations(const std::string& name, const Factories& factories) {
    All().emplace(name, factories);
  }

  /// Returns the implementation that the environment variable KOPP_PLANTED_BUG names. Aborts if no
  /// implementation has this name: a misspelled name must not look like a bug that was caught.
  static const Factories& Selected() {
    static const Factories& selected = []() -> const Factories& {
      const char* variable = std::getenv("KOPP_PLANTED_BUG");
      const std::string name = variable == nullptr ? "" : variable;
      const auto found = All().find(name);
      if (found != All().end()) return found->second;
      std::fprintf(stderr,
                   "KOPP_PLANTED_BUG=%s is not known to this program: unset it, or use "
                   "\"unchanged\" or the name of a patch in model_checking/planted\n",
                   name.c_str());
      std::abort();
    }();
    return selected;
  }

 private:
  static std::map<std::string, Factories>& All() {
    static std::map<std::string, Factories> all;
    return all;
  }
};

}  // namespace kopp::model_checking
