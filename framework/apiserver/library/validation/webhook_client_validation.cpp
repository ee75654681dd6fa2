#include "validation/webhook_client_validation.hpp"

#include "schema/field_validation.hpp"

#include <string>
#include <string_view>

namespace kopp::apiserver {
namespace {

/// Requires a URL "https://HOST[/PATH]".
void ValidateWebhookUrl(const FieldRef& url, FieldErrors& errors) {
  std::string_view rest = url.value().get_ref<const std::string&>();
  const auto add_invalid = [&](std::string_view value, const char* detail) {
    errors.push_back(InvalidValue(url.path(), std::string(value), detail));
  };
  const auto cut_after = [&](char separator) {
    const auto at = rest.find(separator);
    if (at == std::string_view::npos) return std::string_view();
    const std::string_view after = rest.substr(at + 1);
    rest = rest.substr(0, at);
    return after;
  };
  const std::string_view fragment = cut_after('#');
  const std::string_view query = cut_after('?');
  const auto scheme_end = rest.find("://");
  const std::string_view scheme =
      scheme_end == std::string_view::npos ? std::string_view() : rest.substr(0, scheme_end);
  rest.remove_prefix(scheme_end == std::string_view::npos ? rest.size() : scheme_end + 3);
  cut_after('/');
  const auto at = rest.rfind('@');
  const std::string_view user =
      at == std::string_view::npos ? std::string_view() : rest.substr(0, at);
  if (at != std::string_view::npos) rest.remove_prefix(at + 1);
  if (scheme != "https") {
    add_invalid(scheme,
                "'https' is the only allowed URL scheme; desired format: "
                "https://host[/path]");
  }
  if (rest.empty()) add_invalid("", "host must be specified; desired format: https://host[/path]");
  if (!user.empty()) add_invalid(user, "user information is not permitted in the URL");
  if (!fragment.empty()) add_invalid(fragment, "fragments are not permitted in the URL");
  if (!query.empty()) add_invalid(query, "query parameters are not permitted in the URL");
}

void ValidateServicePath(const FieldRef& path, FieldErrors& errors) {
  const std::string text = path.text();
  if (text.empty() || text == "/") return;
  const auto add_invalid = [&](const std::string& detail) {
    errors.push_back(InvalidValue(path.path(), text, detail));
  };
  if (text.front() != '/') add_invalid("must start with a '/'");
  std::string_view rest = std::string_view(text).substr(1);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  for (int i = 0;; ++i) {
    const std::string_view segment = rest.substr(0, rest.find('/'));
    const std::string name = "segment[" + std::to_string(i) + ']';
    if (segment.empty()) {
      add_invalid(name + " may not be empty");
    } else if (const NameError detail = ValidateDnsSubdomain(segment)) {
      add_invalid(name + ": " + *detail);
    }
    if (segment.size() == rest.size()) return;
    rest.remove_prefix(segment.size() + 1);
  }
}

}  // namespace

void ValidateWebhookClientConfig(const FieldRef& config, FieldErrors& errors) {
  const FieldRef service = config["service"];
  if (config["url"].exists() == service.exists()) {
    errors.push_back(Required(config.path(), "exactly one of url or service is required"));
    return;
  }
  if (config["url"].exists()) return ValidateWebhookUrl(config["url"], errors);
  // kube-apiserver reports a missing name at the namespace, and a missing namespace at the name.
  if (service["namespace"].text().empty()) errors.push_back(Required(service["name"].path(), ""));
  if (service["name"].text().empty()) errors.push_back(Required(service["namespace"].path(), ""));
  const FieldRef port = service["port"];
  if (port.number() < 1 || port.number() > 65535) {
    errors.push_back(InvalidValue(port.path(), port.value(),
                                  "port is not valid: must be between 1 and 65535, inclusive"));
  }
  ValidateServicePath(service["path"], errors);
}

}  // namespace kopp::apiserver
