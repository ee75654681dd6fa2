#pragma once

#include <iosfwd>

namespace kopp::command {

/// The input and output streams of a command. They must outlive this struct.
struct Terminal {
  std::istream& in;
  std::ostream& out;
  std::ostream& errors;
  bool interactive = false;  ///< whether a user can answer questions
};

/// Runs the command `kopp` and returns its exit code: 0, 1 for an error, 2 for a command line that
/// is not valid. Throws nothing.
int Run(int argc, const char* const* argv, const Terminal& terminal);

}  // namespace kopp::command
