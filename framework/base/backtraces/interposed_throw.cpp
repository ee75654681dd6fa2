// Replaces the function of the C++ runtime that throws exceptions. The dynamic linker prefers the
// symbol of the program, also for exceptions that the standard library throws.
#include "base/throw_trace.hpp"

#include <cstdlib>
#include <typeinfo>

#include <dlfcn.h>

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" [[noreturn, gnu::visibility("default")]] void __cxa_throw(void* exception,
                                                                     std::type_info* type,
                                                                     void (*destroy)(void*)) {
  using Throw = void (*)(void*, std::type_info*, void (*)(void*));
  static const auto next = reinterpret_cast<Throw>(dlsym(RTLD_NEXT, "__cxa_throw"));
  kopp::detail::OnThrow(exception);
  next(exception, type, destroy);
  std::abort();  // `next` does not return
}
