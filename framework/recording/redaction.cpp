#include "recording/redaction.hpp"

#include "base/base64.hpp"
#include "base/sha256.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp {
namespace {

using nlohmann::json;

constexpr std::string_view kPrefix = "redacted-";
constexpr std::size_t kHashBytes = 8;
constexpr std::size_t kShortestQuoted = 4;  // A shorter value may be a part of other words.
constexpr std::size_t kMessages = 100;      // of errors that are remembered
constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/// The parts of a path that say what its objects are.
struct Resource {
  std::string group;  // "" for the core API
  std::string plural;
  std::string subresource;
};

std::vector<std::string> Segments(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    path.remove_prefix(1);  // '/'
    const std::size_t end = std::min(path.find('/'), path.size());
    segments.emplace_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return segments;
}

Resource ResourceOf(std::string_view target) {
  const std::vector<std::string> all = Segments(target.substr(0, target.find('?')));
  const auto at = [&](std::size_t i) { return i < all.size() ? all[i] : ""; };
  const bool is_core = at(0) == "api";
  std::size_t next = is_core ? 2 : 3;  // after the version
  // "namespaces/shop" is a Namespace; "namespaces/shop/secrets" are objects of the namespace.
  if (at(next) == "namespaces" && all.size() > next + 2) next += 2;
  return {is_core ? "" : at(1), at(next), at(next + 2)};
}

bool IsSecrets(const Resource& resource) {
  return resource.group.empty() && resource.plural == "secrets";
}

bool HasTokens(const Resource& resource) {
  const bool is_request = resource.plural == "serviceaccounts" && resource.subresource == "token";
  return is_request ||
         (resource.group == "authentication.k8s.io" && resource.plural == "tokenreviews");
}

/// Replaces the secret values of one body.
class BodyRedactor {
 public:
  explicit BodyRedactor(const std::string& key) : key_(key) {}

  /// Redacts a body of `target`. Returns false, and does nothing, if it is not JSON.
  [[nodiscard]] bool Redact(std::string_view target, json& body) {
    if (body.is_discarded()) return false;
    IsSecrets(ResourceOf(target)) ? RedactSecrets(body) : RedactToken(body);
    return true;
  }

  /// Returns the values that were replaced, as a text may quote them, and their placeholders.
  [[nodiscard]] const std::map<std::string, std::string>& replaced() const { return replaced_; }

  [[nodiscard]] std::string Placeholder(const std::string& value) const {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text(kPrefix);
    for (const char c : detail::Sha256(key_ + value).substr(0, kHashBytes)) {
      const auto byte = static_cast<unsigned char>(c);
      text += kDigits[byte >> 4U];
      text += kDigits[byte & 0xfU];
    }
    return text;
  }

 private:
  /// Redacts a Secret, a list of Secrets, an event of a watch, or a patch.
  void RedactSecrets(json& body) {
    if (body.is_array()) {  // a JSON patch
      for (json& operation : body) RedactOperation(operation);
      return;
    }
    if (!body.is_object()) return;
    if (const auto items = body.find("items"); items != body.end() && items->is_array()) {
      for (json& item : *items) RedactSecret(item);
    } else if (const auto object = body.find("object"); object != body.end()) {
      RedactSecret(*object);
    } else {
      RedactSecret(body);
    }
  }

  void RedactToken(json& body) {
    for (const char* field : {"spec", "status"}) {
      const auto part = body.is_object() ? body.find(field) : body.end();
      if (part == body.end() || !part->is_object() || !part->contains("token")) continue;
      RedactStrings((*part)["token"], /*is_base64=*/false);
    }
  }

  void RedactSecret(json& secret) {
    if (!secret.is_object()) return;
    if (secret.contains("data")) RedactStrings(secret["data"], /*is_base64=*/true);
    if (secret.contains("stringData")) RedactStrings(secret["stringData"], /*is_base64=*/false);
    if (secret.contains("metadata")) RedactMetadata(secret["metadata"]);
  }

  void RedactMetadata(json& metadata) {
    const auto annotations = metadata.is_object() ? metadata.find("annotations") : metadata.end();
    if (annotations == metadata.end() || !annotations->is_object()) return;
    const auto applied = annotations->find(kLastApplied);
    if (applied != annotations->end()) RedactStrings(*applied, /*is_base64=*/false);
  }

  /// The value may be anything that the path refers to.
  void RedactOperation(json& operation) {
    if (!operation.is_object() || !operation.contains("value")) return;
    const std::string path = operation.value("path", "");
    json& value = operation["value"];
    if (path.empty()) {
      RedactSecret(value);
    } else if (path == "/metadata") {
      RedactMetadata(value);
    } else if (path == "/metadata/annotations") {
      json metadata{{"annotations", std::move(value)}};
      RedactMetadata(metadata);
      value = std::move(metadata["annotations"]);
    } else if (path.starts_with("/data") || path.starts_with("/stringData") ||
               path.find("last-applied-configuration") != std::string::npos) {
      RedactStrings(value, path.starts_with("/data"));
    }
  }

  /// A number is not valid, but may be a secret value.
  void RedactStrings(json& value, bool is_base64) {
    if (value.is_structured()) {
      for (json& member : value) RedactStrings(member, is_base64);
    } else if (!value.is_null()) {
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      const auto bytes = is_base64 ? detail::DecodeBase64(text) : std::nullopt;
      const std::string placeholder = Placeholder(bytes.value_or(text));
      value = is_base64 ? detail::EncodeBase64(placeholder) : placeholder;
      AddReplaced(text, placeholder);
      AddReplaced(bytes.value_or(text), placeholder);
    }
  }

  void AddReplaced(const std::string& text, const std::string& placeholder) {
    if (text.size() < kShortestQuoted) return;
    const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
    replaced_[text] = placeholder;
    replaced_[quoted.substr(1, quoted.size() - 2)] = placeholder;
  }

  const std::string& key_;
  std::map<std::string, std::string> replaced_;
};

json Parse(const std::string& text) {
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string Dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool IsError(const json& response) {
  return response.is_object() && response.value("kind", json()) == "Status" &&
         response.value("status", json()) == "Failure";
}

/// Calls `f` with each message of an error.
template <typename F>
void ForEachMessage(json& status, const F& f) {
  const auto call = [&](json& part) {
    if (!part.is_object()) return;
    const auto message = part.find("message");
    if (message != part.end() && message->is_string()) f(message->get_ref<std::string&>());
  };
  call(status);
  const json::json_pointer causes("/details/causes");
  if (!status.contains(causes) || !status[causes].is_array()) return;
  for (json& cause : status[causes]) call(cause);
}

/// Replaces each occurrence of a key by its value.
std::string Replace(std::string text, const std::map<std::string, std::string>& values) {
  std::vector<std::pair<std::string_view, std::string_view>> longest_first(values.begin(),
                                                                           values.end());
  std::ranges::stable_sort(longest_first, std::ranges::greater(),
                           [](const auto& value) { return value.first.size(); });
  for (const auto& [value, placeholder] : longest_first) {
    for (auto at = text.find(value); at != std::string::npos;
         at = text.find(value, at + placeholder.size())) {
      text.replace(at, value.size(), placeholder);
    }
  }
  return text;
}

std::string NewKey() {
  constexpr std::size_t kSize = 32;
  std::random_device random;
  std::string key;
  for (std::size_t i = 0; i < kSize; ++i) key += static_cast<char>(random() & 0xffU);
  return key;
}

bool IsPlaceholder(std::string_view text) {
  return text.size() == kPrefix.size() + 2 * kHashBytes && text.starts_with(kPrefix);
}

}  // namespace

Redactor::Redactor() : key_(NewKey()) {}

bool Redactor::IsSecret(std::string_view target) {
  const Resource resource = ResourceOf(target);
  return IsSecrets(resource) || HasTokens(resource);
}

std::string Redactor::Redact(std::string_view target, const std::string& body) const {
  if (body.empty() || !IsSecret(target)) return body;
  BodyRedactor redactor(key_);
  json value = Parse(body);
  return redactor.Redact(target, value) ? Dump(value) : redactor.Placeholder(body);
}

std::string Redactor::RedactResponse(std::string_view target, const std::string& request,
                                     const std::string& response) {
  json status = IsSecret(target) ? Parse(response) : json();
  if (!IsError(status) || request.empty()) return Redact(target, response);
  BodyRedactor redactor(key_);
  json body = Parse(request);
  const bool is_json = redactor.Redact(target, body);
  ForEachMessage(status, [&](std::string& message) {
    std::string redacted =
        is_json ? Replace(message, redactor.replaced()) : redactor.Placeholder(message);
    if (redacted == message) return;
    auto messages = messages_.Lock();
    if (messages->size() == kMessages) messages->clear();
    (*messages)[message] = redacted;
    message = std::move(redacted);
  });
  return Dump(status);
}

std::string Redactor::RedactText(std::string text) const {
  return Replace(std::move(text), *messages_.Lock());
}

bool IsRedacted(const std::string& text) {
  return IsPlaceholder(text) || IsPlaceholder(detail::DecodeBase64(text).value_or(""));
}

}  // namespace kopp
