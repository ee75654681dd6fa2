#include "shutdown.hpp"

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace kopp {
namespace {

using namespace std::chrono_literals;

std::string JoinNames(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Shutdown::Shutdown(Duration timeout, Clock& clock, Logger log, std::function<void()> cancel_calls)
    : clock_(clock), log_(std::move(log)), cancel_calls_(std::move(cancel_calls)) {
  if (timeout < Duration::zero()) return;
  const TimePoint start = clock.Now();
  cancel_at_ = SaturatingAdd(start, timeout - std::min<Duration>(timeout / 4, 5s));
  exit_at_ = SaturatingAdd(start, std::max<Duration>(timeout, 1s));
  try {
    watchdog_ = std::jthread([this](const std::stop_token& stop) { ExitAtLimit(stop); });
  } catch (const std::system_error& error) {
    log_.Error("Cannot start the thread that limits the shutdown, it may take longer",
               {{"err", error.what()}});
  }
}

void Shutdown::Await(const std::function<std::vector<std::string>(TimePoint deadline)>& running) {
  const auto names = running(cancel_at_);
  if (names.empty()) return;
  const std::string text = JoinNames(names);
  *running_.Lock() = text;
  if (cancel_calls_) {
    log_.Error("The shutdown takes too long, cancelling API calls", {{"running", text}});
    std::exchange(cancel_calls_, nullptr)();
  }
  static_cast<void>(running(TimePoint::max()));
  running_.Lock()->clear();
}

void Shutdown::Await(std::string name, const std::function<void()>& wait) {
  *running_.Lock() = std::move(name);
  wait();
  running_.Lock()->clear();
}

void Shutdown::ExitAtLimit(const std::stop_token& stop) {
  if (!SleepUntil(clock_, exit_at_, stop)) return;
  const std::string running = *running_.Lock();
  log_.Error("The shutdown took too long, exiting with code 1", {{"running", running}});
  FlushLog(1s);
  std::_Exit(1);
}

}  // namespace kopp
