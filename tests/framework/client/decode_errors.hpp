#pragma once

#include <string>

#include <kopp/informer/decode_error.hpp>

namespace kopp {

/// Calls `call` and returns the text of the DecodeError that it throws.
template <typename Call>
std::string DecodeErrorOf(const Call& call) {
  try {
    call();
  } catch (const DecodeError& error) {
    return error.what();
  }
  return "no DecodeError";
}

}  // namespace kopp
