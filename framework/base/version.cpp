#include "base/version.hpp"

namespace kopp::detail {

std::string_view Version() { return KOPP_VERSION; }

}  // namespace kopp::detail
