#pragma once

#include <exception>
#include <string>

namespace kopp::informer {

/// Returns what() of the exception, for logs. Requires: not null.
inline std::string TextOf(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    return exception.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

}  // namespace kopp::informer
