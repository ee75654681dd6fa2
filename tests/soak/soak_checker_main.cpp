// Checks the logs of a soak run: soak_checker TRUTH CACHE. Prints the violations; exit code 1 if
// any.
#include "checker.hpp"

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>

namespace {

constexpr std::size_t kMaxPrinted = 20;

int Check(const char* truth_file, const char* cache_file) {
  std::ifstream truth_log(truth_file);
  std::ifstream cache_log(cache_file);
  if (!truth_log || !cache_log) {
    std::cerr << "cannot read " << (truth_log ? cache_file : truth_file) << "\n";
    return EXIT_FAILURE;
  }
  const kopp::soak::Truth truth = kopp::soak::ReadTruth(truth_log);
  const auto violations = kopp::soak::FindViolations(truth, cache_log);
  for (std::size_t i = 0; i < violations.size() && i < kMaxPrinted; ++i) {
    std::cout << violations[i].ToString() << "\n";
  }
  std::cout << "checked the caches over " << truth.changes.size()
            << " changes: " << violations.size() << " violations\n";
  return violations.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: soak_checker TRUTH CACHE\n";
    return 2;
  }
  try {
    return Check(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
