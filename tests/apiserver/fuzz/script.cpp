#include "script.hpp"

#include <algorithm>
#include <charconv>

namespace kopp::apiserver::fuzz {
namespace {

constexpr std::size_t kMostSteps = 20;
constexpr int kLongestWait = 1000;  // seconds: longer than any timeout or what is kept of the past

/// The text in front of `end`, which `text` loses with it.
std::string_view TakeUntil(std::string_view& text, std::string_view end) {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(taken.size() + end.size(), text.size()));
  return taken;
}

void ReadHeader(std::string_view line, Ask& ask) {
  const std::string_view name = TakeUntil(line, ": ");
  if (name == "Content-Type") ask.content_type = line;
  if (name == "Accept") ask.accept = line;
  if (name == "User-Agent") ask.user_agent = line;
}

Step ReadStep(std::string_view text) {
  std::string_view line = TakeUntil(text, "\n");
  Step step;
  Ask& ask = step.ask;
  ask.method = TakeUntil(line, " ");
  if (ask.method == "WAIT") {
    int seconds = 0;
    std::from_chars(line.data(), line.data() + line.size(), seconds);
    step.wait = std::chrono::seconds(std::clamp(seconds, 1, kLongestWait));
    return step;
  }
  ask.target = ParseTarget(line);
  ask.accept = "application/json";
  ask.content_type = "application/json";
  ask.user_agent = "fuzz";
  while (!text.empty()) {
    line = TakeUntil(text, "\n");
    if (line.empty()) break;
    ReadHeader(line, ask);
  }
  ask.body = text;
  return step;
}

}  // namespace

std::vector<Step> ReadScript(std::string_view text) {
  std::vector<Step> steps;
  while (!text.empty() && steps.size() < kMostSteps) {
    steps.push_back(ReadStep(TakeUntil(text, "\n###\n")));
  }
  return steps;
}

}  // namespace kopp::apiserver::fuzz
