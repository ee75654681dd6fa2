#include "event_request.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>

#include <kopp/workqueue/random_source.hpp>

namespace kopp {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMessageBytes = 1024;

/// Cuts `text` to kMaxMessageBytes or up to three bytes less.
std::string_view Cut(std::string_view text) {
  if (text.size() <= kMaxMessageBytes) return text;
  constexpr std::size_t kMaxCharacterBytes = 4;
  const auto continues_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
  };
  std::size_t end = kMaxMessageBytes;
  while (end > kMaxMessageBytes - kMaxCharacterBytes + 1 && continues_character(text[end])) --end;
  return text.substr(0, end);
}

std::string EventName(const std::string& object, WallTime time) {
  constexpr std::size_t kMaxLength = 253 - sizeof(".0123456789abcdef");
  constexpr const char* kDnsNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-.";
  const bool is_valid = !object.empty() && object.size() <= kMaxLength &&
                        object.find_first_not_of(kDnsNameCharacters) == std::string::npos;
  char suffix[24];
  std::snprintf(suffix, sizeof suffix, ".%llx",
                static_cast<unsigned long long>(time.time_since_epoch().count()));
  return (is_valid ? object : "event") + suffix;
}

}  // namespace

std::string ValidMessage(std::string_view message) {
  const auto replace = json::error_handler_t::replace;
  // Cuts twice: a replacement is longer than the bytes that it replaces.
  const std::string valid = json::parse(json(Cut(message)).dump(-1, ' ', false, replace));
  return std::string(Cut(valid));
}

ObjectKey EventKeys::New(const ObjectReference& object, WallTime time) {
  last_ = std::max(time, last_ + Duration(1));
  return {EventNamespace(object), EventName(object.name, last_)};
}

ObjectKey EventKeys::Another(const ObjectKey& key) {
  const std::chrono::duration<double> offset(workqueue::SystemRandom());
  last_ += std::chrono::duration_cast<Duration>(offset) + Duration(1);
  return {key.ns, EventName(key.name.substr(0, key.name.rfind('.')), last_)};
}

const std::string& EventNamespace(const ObjectReference& object) {
  static const std::string default_namespace = "default";
  return object.ns.empty() ? default_namespace : object.ns;
}

std::string IdentityOf(const ObjectReference& object) {
  return object.apiVersion + '\n' + object.kind + '\n' + object.ns + '\n' + object.name + '\n' +
         object.uid + '\n' + object.fieldPath;
}

json EventMetadata(const ObjectKey& key, const EventDetails& details) {
  json metadata{{"name", key.name}, {"namespace", key.ns}};
  if (!details.annotations.empty()) metadata["annotations"] = details.annotations;
  return metadata;
}

}  // namespace kopp
