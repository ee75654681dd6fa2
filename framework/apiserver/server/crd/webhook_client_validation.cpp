#include "crd/webhook_client_validation.hpp"

#include "schema/field_validation.hpp"
#include "schema/go_url.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

namespace kopp::apiserver {
namespace {

/// Requires a URL "https://HOST[/PATH]".
void ValidateWebhookUrl(const FieldRef& url, FieldErrors& errors) {
  const std::string form = "; desired format: https://host[/path]";
  const auto add_invalid = [&](const std::string& value, const std::string& detail) {
    errors.push_back(InvalidValue(url.path(), value, detail));
  };
  try {
    const GoUrl parsed = ParseGoUrl(url.text());
    if (parsed.scheme != "https")
      add_invalid(parsed.scheme, "'https' is the only allowed URL scheme" + form);
    if (parsed.host.empty()) add_invalid("", "host must be specified" + form);
    if (parsed.user) add_invalid(*parsed.user, "user information is not permitted in the URL");
    if (!parsed.fragment.empty())
      add_invalid(parsed.fragment, "fragments are not permitted in the URL");
    if (!parsed.query.empty())
      add_invalid(parsed.query, "query parameters are not permitted in the URL");
  } catch (const std::invalid_argument& error) {
    errors.push_back(Required(url.path(), "url must be a valid URL: " + (error.what() + form)));
  }
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
