#include "base/throw_trace.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

namespace kopp::detail {
namespace {

constexpr std::size_t kMaxFrames = 64;
constexpr std::size_t kOwnFrames = 3;  // GetFrames, OnThrow, the function of kopp::backtraces

using Frames = std::array<void*, kMaxFrames>;

struct Trace {
  bool enabled = false;
  const void* exception = nullptr;
  Frames frames{};
  std::size_t size = 0;
  std::size_t outer_frames = 0;  // from main to the function with the ThrowTrace
};

/// Returns the number of frames. The first one is that of this function.
[[gnu::noinline]] std::size_t GetFrames(Frames& frames) {
  return static_cast<std::size_t>(backtrace(frames.data(), static_cast<int>(frames.size())));
}

Trace& TraceOfThread() {
  thread_local Trace trace;
  return trace;
}

std::string Hexadecimal(std::uintptr_t number) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[number % kDigits.size()]);
    number /= kDigits.size();
  } while (number != 0);
  return "0x" + text;
}

std::string Demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  return text ? text.get() : symbol;
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
  trace.outer_frames = GetFrames(trace.frames) - 2;  // without GetFrames and this constructor
}

ThrowTrace::~ThrowTrace() { TraceOfThread().enabled = false; }

std::string ThrowTrace::Of(const std::exception& error) {
  const Trace& trace = TraceOfThread();
  // The address of the whole object, also if `error` is one of its bases.
  if (trace.exception != dynamic_cast<const void*>(&error)) return "";
  std::string text;
  // A trace that is cut off has none of the outer frames.
  const std::size_t outer = trace.size < kMaxFrames ? trace.outer_frames : 0;
  for (std::size_t i = kOwnFrames; i + outer < trace.size; ++i) {
    if (!text.empty()) text += '\n';
    text += DescribeFrame(trace.frames[i]);
  }
  return text;
}

void OnThrow(const void* exception) noexcept {
  Trace& trace = TraceOfThread();
  if (!trace.enabled) return;
  trace.exception = exception;
  trace.size = GetFrames(trace.frames);
}

}  // namespace kopp::detail
