// The headers that most tests include. kopp_add_tests precompiles them once for all test programs.
// Tests must still include what they use: `make tidy` reads them without this file.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// precompiled.cpp instantiates these templates, so that no other source has to.
extern template class nlohmann::basic_json<>;
extern template class std::vector<nlohmann::json>;
extern template class std::map<std::string, nlohmann::json, std::less<>>;
