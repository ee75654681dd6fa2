#pragma once

#include <string_view>

namespace kopp::apiserver {

/// Throws std::invalid_argument with the message of Go's JSON parser if `text` is not JSON. Does
/// not check the encoding of strings. The stack grows with the nesting of `text`, which callers
/// limit.
void CheckJsonSyntax(std::string_view text);

}  // namespace kopp::apiserver
