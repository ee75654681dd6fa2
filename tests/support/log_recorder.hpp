#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include <kopp/log.hpp>

namespace kopp::testing {

/// Records the log of a program. Thread-safe.
class LogRecorder {
 public:
  /// Returns a logger that must not outlive the recorder.
  [[nodiscard]] Logger NewLogger() {
    return Logger({.write = [this](std::string_view line) {
      {
        const std::lock_guard guard{mutex_};
        text_ += line;
      }
      written_.notify_all();
    }});
  }

  /// Blocks until the log has `text` `count` times. Returns what follows the last of them.
  std::string Await(const std::string& text, int count = 1) {
    std::unique_lock lock{mutex_};
    std::size_t end = 0;
    written_.wait(lock, [&] {
      end = 0;
      for (int i = 0; i < count; ++i) {
        const auto found = text_.find(text, end);
        if (found == std::string::npos) return false;
        end = found + text.size();
      }
      return true;
    });
    return text_.substr(end);
  }

 private:
  std::mutex mutex_;
  std::condition_variable written_;
  std::string text_;
};

}  // namespace kopp::testing
