#include "config/token_source.hpp"

#include <algorithm>
#include <fstream>

namespace kopp::detail {
namespace {

constexpr Duration kRereadInterval = std::chrono::seconds(60);
constexpr std::size_t kMaxTokenBytes = 64 << 10;

std::optional<std::string> ReadToken(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text(kMaxTokenBytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return in.bad() || !in.eof() ? std::nullopt : ParseToken(text);
}

}  // namespace

std::optional<std::string> ParseToken(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
  const auto visible = [](char c) { return c > ' ' && c < '\x7f'; };
  if (!std::all_of(text.begin(), text.end(), visible)) return std::nullopt;
  return std::string(text);
}

TokenSource::TokenSource(const Config& config, Clock& clock)
    : file_(config.token_file), clock_(clock), next_read_(After(clock.Now(), kRereadInterval)) {
  if (file_.empty() && config.token.empty()) return;
  const auto token = file_.empty() ? ParseToken(config.token) : ReadToken(file_);
  if (!token) {
    throw ConfigError(file_.empty() ? "the token of " + config.source +
                                          " must be one word of visible ASCII characters"
                                    : "token file " + file_.string() +
                                          " cannot be read, or is not one word of visible ASCII "
                                          "characters");
  }
  token_ = *token;
}

std::string TokenSource::Get() {
  const std::lock_guard lock(mutex_);
  if (!file_.empty() && clock_.Now() >= next_read_) {
    next_read_ = After(clock_.Now(), kRereadInterval);
    if (auto token = ReadToken(file_)) token_ = std::move(*token);
  }
  return token_;
}

void TokenSource::Invalidate() {
  const std::lock_guard lock(mutex_);
  next_read_ = TimePoint::min();
}

}  // namespace kopp::detail
