#pragma once

#include <string_view>

namespace kopp::schema::data {

/// The contents of schemas.txt, embedded at build time.
extern const std::string_view schemas;

}  // namespace kopp::schema::data
