// The libFuzzer target: it runs any bytes as a script of requests, and aborts on a Finding.
//
//     make fuzz SECONDS=60
//     apiserver_fuzz FILE     runs the script in a file

#include "response_checker.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace kopp::apiserver::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    ResponseChecker checker;
    for (const Step& step : ParseScript({reinterpret_cast<const char*>(bytes), size})) {
      checker.Run(step);
    }
    checker.Finish();
  } catch (const Finding& finding) {
    std::fprintf(stderr, "%s\n", finding.what());
    std::abort();
  }
  return 0;
}
