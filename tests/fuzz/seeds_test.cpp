// Runs each seed of the fuzz targets.

#include "targets.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kopp::fuzz {
namespace {

using Target = void (*)(std::string_view input);

const std::map<std::string, Target> targets = {{"http_response", FuzzHttpResponse},
                                               {"json", FuzzJson},
                                               {"kubeconfig", FuzzKubeconfig},
                                               {"selector", FuzzSelector},
                                               {"webhook", FuzzWebhook}};

std::vector<std::filesystem::path> Seeds() {
  std::vector<std::filesystem::path> seeds;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(KOPP_SEEDS)) {
    if (entry.is_regular_file()) seeds.push_back(entry.path());
  }
  return seeds;
}

std::string TargetOf(const std::filesystem::path& seed) {
  return seed.parent_path().filename().string();
}

std::string TextOf(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class FuzzSeedsTest : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(FuzzSeedsTest, IsHandledByItsTarget) {
  const std::string input = TextOf(GetParam());
  ASSERT_FALSE(input.empty());

  targets.at(TargetOf(GetParam()))(input);
}

INSTANTIATE_TEST_SUITE_P(, FuzzSeedsTest, ::testing::ValuesIn(Seeds()), [](const auto& seed) {
  return TargetOf(seed.param) + "_" + seed.param.stem().string();
});

}  // namespace
}  // namespace kopp::fuzz
