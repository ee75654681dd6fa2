#include "recording/redaction.hpp"

#include "base/base64.hpp"
#include "base/sha256.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp {
namespace {

using nlohmann::json;

constexpr std::string_view kPrefix = "redacted-";
constexpr std::size_t kHashBytes = 8;
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

  /// Redacts a Secret, a list of Secrets, an event of a watch, or a patch.
  void RedactSecrets(json& body) const {
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

  void RedactToken(json& body) const {
    for (const char* field : {"spec", "status"}) {
      const auto part = body.is_object() ? body.find(field) : body.end();
      if (part == body.end() || !part->is_object() || !part->contains("token")) continue;
      RedactStrings((*part)["token"], /*is_base64=*/false);
    }
  }

 private:
  void RedactSecret(json& secret) const {
    if (!secret.is_object()) return;
    if (secret.contains("data")) RedactStrings(secret["data"], /*is_base64=*/true);
    if (secret.contains("stringData")) RedactStrings(secret["stringData"], /*is_base64=*/false);
    if (secret.contains("metadata")) RedactMetadata(secret["metadata"]);
  }

  void RedactMetadata(json& metadata) const {
    const auto annotations = metadata.is_object() ? metadata.find("annotations") : metadata.end();
    if (annotations == metadata.end() || !annotations->is_object()) return;
    const auto applied = annotations->find(kLastApplied);
    if (applied != annotations->end()) RedactStrings(*applied, /*is_base64=*/false);
  }

  /// The value may be anything that the path refers to.
  void RedactOperation(json& operation) const {
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

  void RedactStrings(json& value, bool is_base64) const {
    if (value.is_structured()) {
      for (json& member : value) RedactStrings(member, is_base64);
    } else if (value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      const auto bytes = is_base64 ? detail::DecodeBase64(text) : std::nullopt;
      const std::string placeholder = Placeholder(bytes.value_or(text));
      value = is_base64 ? detail::EncodeBase64(placeholder) : placeholder;
    }
  }

  const std::string& key_;
};

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
  const BodyRedactor redactor(key_);
  json value = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return redactor.Placeholder(body);
  if (IsSecrets(ResourceOf(target))) {
    redactor.RedactSecrets(value);
  } else {
    redactor.RedactToken(value);
  }
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool IsRedacted(const std::string& text) {
  return IsPlaceholder(text) || IsPlaceholder(detail::DecodeBase64(text).value_or(""));
}

}  // namespace kopp
