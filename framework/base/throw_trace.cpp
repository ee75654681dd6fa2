#include "base/throw_trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <dlfcn.h>
#include <execinfo.h>

#include <kopp/informer/detail/exception_text.hpp>

namespace kopp::detail {
namespace {

constexpr std::size_t kMaxFrames = 64;

/// The addresses of calls, the innermost first.
class Frames {
 public:
  /// Gets the calls that led to `address`, in a function that has called this one.
  void Get(const void* address) {
    size_ = static_cast<std::size_t>(backtrace(addresses_.data(), static_cast<int>(kMaxFrames)));
    start_ = 0;
    const auto found = std::ranges::find(all(), address);
    if (found != all().end()) start_ = static_cast<std::size_t>(found - all().begin());
  }
  [[nodiscard]] std::span<void* const> all() const {
    return std::span(addresses_).first(size_).subspan(start_);
  }

 private:
  std::array<void*, kMaxFrames> addresses_{};
  std::size_t size_ = 0;
  std::size_t start_ = 0;
};

struct Trace {
  bool enabled = false;
  const void* exception = nullptr;
  Frames frames{};
  std::size_t outer_frames = 0;  // from main to the function with the ThrowTrace
};

Trace& TraceOfThread() {
  thread_local Trace trace;
  return trace;
}

std::string Hexadecimal(std::uintptr_t number) {
  std::array<char, 2 * sizeof(number)> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return "0x" + std::string(digits.data(), end);
}

/// Returns how far `address` is behind `start`.
std::string OffsetFrom(const void* start, const void* address) {
  return '+' + Hexadecimal(reinterpret_cast<std::uintptr_t>(address) -
                           reinterpret_cast<std::uintptr_t>(start));
}

std::string DescribeFrame(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0) return Hexadecimal(reinterpret_cast<std::uintptr_t>(address));
  const std::string_view file = info.dli_fname;
  std::string place{file.substr(file.rfind('/') + 1)};
  place += OffsetFrom(info.dli_fbase, address);
  if (info.dli_sname == nullptr) return place;
  return Demangled(info.dli_sname) + OffsetFrom(info.dli_saddr, address) + " (" + place + ')';
}

}  // namespace

ThrowTrace::ThrowTrace(bool enabled) {
  if (!enabled) return;
  Trace& trace = TraceOfThread();
  trace.enabled = true;
  trace.exception = nullptr;
  trace.frames.Get(__builtin_return_address(0));
  trace.outer_frames = trace.frames.all().size();
}

ThrowTrace::~ThrowTrace() { TraceOfThread().enabled = false; }

std::string ThrowTrace::Of(const std::exception& error) {
  const Trace& trace = TraceOfThread();
  // The address of the whole object, also if `error` is one of its bases.
  if (trace.exception != dynamic_cast<const void*>(&error)) return "";
  std::string text;
  // The first frame is that of kopp::backtraces.
  for (std::size_t i = 1; i + trace.outer_frames < trace.frames.all().size(); ++i) {
    if (!text.empty()) text += '\n';
    text += DescribeFrame(trace.frames.all()[i]);
  }
  return text;
}

void OnThrow(const void* exception) noexcept {
  Trace& trace = TraceOfThread();
  if (!trace.enabled) return;
  trace.exception = exception;
  trace.frames.Get(__builtin_return_address(0));
}

}  // namespace kopp::detail
