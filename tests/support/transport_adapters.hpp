#pragma once

#include <string>
#include <vector>

#include <kopp/transport.hpp>

namespace kopp::testing {

/// Returns the HTTP libraries that this build of kopp has, for parameterized tests.
inline std::vector<TransportOptions::Calls> TransportAdapters() {
  return {
#ifdef KOPP_WITH_CPPREST
      TransportOptions::Calls::kCppRest,
#endif
      TransportOptions::Calls::kBeast};
}

/// Returns the suffix of test names for `calls`.
inline std::string AdapterName(TransportOptions::Calls calls) {
  return calls == TransportOptions::Calls::kCppRest ? "CppRest" : "Beast";
}

}  // namespace kopp::testing
