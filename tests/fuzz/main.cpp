// The libFuzzer entry point of the target KOPP_FUZZ_TARGET.
//
//     make fuzz SECONDS=60 TARGETS=json    fuzzes a target
//     json_fuzz FILE                       runs the input in a file

#include "targets.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  kopp::fuzz::KOPP_FUZZ_TARGET({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
