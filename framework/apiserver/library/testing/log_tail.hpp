#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Keeps the last 30 lines of a log. Thread-safe.
class LogTail {
 public:
  void Write(std::string_view line) {
    auto lines = lines_.Lock();
    if (lines->size() == kLines) lines->pop_front();
    lines->emplace_back(line);
  }

  [[nodiscard]] std::string Text() const {
    auto lines = lines_.Lock();
    std::string text;
    for (const std::string& line : *lines) text += line;
    return text;
  }

 private:
  static constexpr std::size_t kLines = 30;

  mutable detail::Guarded<std::deque<std::string>> lines_;
};

}  // namespace kopp::apiserver
