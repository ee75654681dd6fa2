#pragma once

#include <string>
#include <string_view>

namespace kopp {

/// Returns the JSON Patch (RFC 6902) that carries a change of a struct over to an object, or "" if
/// it changes nothing. `before` and `after` are the struct before and after the change, encoded.
/// All are JSON texts. Only the fields that changed are parsed. The rules are those of
/// detail::MergeChange, but a field that did not change and that the object lacks is added only in
/// items of lists and in a new value. Throws DecodeError if `object` is not valid JSON, and
/// std::logic_error as MergeChange does.
[[nodiscard]] std::string ChangePatch(std::string_view object, std::string_view before,
                                      std::string_view after);

}  // namespace kopp
