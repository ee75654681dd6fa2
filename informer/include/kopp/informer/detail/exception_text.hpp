#pragma once

#include <exception>
#include <string>

namespace kopp::detail {

/// Returns the C++ name for a name of the linker, or `name` itself if it is not one.
[[nodiscard]] std::string Demangled(const char* name);

/// Returns the name of the type of an exception, such as "std::out_of_range". Returns "" if the
/// type adds nothing to the text: for std::runtime_error, for the exceptions of kopp, and if what()
/// is the name of the type.
[[nodiscard]] std::string ExceptionType(const std::exception& error);

/// Returns the type and what() of an exception, such as "std::out_of_range: map::at", for logs.
[[nodiscard]] std::string ExceptionText(const std::exception& error);
/// The same for any exception. Requires: not null.
[[nodiscard]] std::string ExceptionText(const std::exception_ptr& error);

}  // namespace kopp::detail
