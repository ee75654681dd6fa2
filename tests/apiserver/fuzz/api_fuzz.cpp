// libFuzzer's program: any bytes are a script of requests, and a Finding ends it.
//
//     make fuzz SECONDS=60
//     apiserver_fuzz FILE     does again what a file says

#include "examiner.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace kopp::apiserver::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    Examiner examiner;
    for (const Step& step : ReadScript({reinterpret_cast<const char*>(bytes), size})) {
      examiner.Do(step);
    }
    examiner.Finish();
  } catch (const Finding& finding) {
    std::fprintf(stderr, "%s\n", finding.what());
    std::abort();
  }
  return 0;
}
