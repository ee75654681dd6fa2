#include "response_checker.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kopp::apiserver::fuzz {
namespace {

std::vector<std::filesystem::path> Seeds() {
  return {std::filesystem::directory_iterator(KOPP_SEEDS), std::filesystem::directory_iterator()};
}

std::string TextOf(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class SeedsTest : public ::testing::TestWithParam<std::filesystem::path> {};

// A seed with a failing request would not lead the fuzzer to the code behind it.
TEST_P(SeedsTest, EachRequestSucceeds) {
  ResponseChecker checker;
  for (const Step& step : ParseScript(TextOf(GetParam()))) {
    const int status = checker.Run(step);
    EXPECT_TRUE(status / 100 == 2 || status == 0)
        << status << " to " << step.request.method << ' ' << step.request.target.raw;
  }
  checker.Finish();
}

INSTANTIATE_TEST_SUITE_P(, SeedsTest, ::testing::ValuesIn(Seeds()),
                         [](const auto& seed) { return seed.param.stem().string(); });

}  // namespace
}  // namespace kopp::apiserver::fuzz
