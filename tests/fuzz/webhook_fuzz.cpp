#include "base/base64.hpp"
#include "targets.hpp"
#include "webhook/limited_json.hpp"
#include "webhook/webhook_registry.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/informer/decode_error.hpp>
#include <kopp/informer/fields.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>
#include <kopp/webhook/webhook_builder.hpp>

namespace kopp::fuzz {
namespace {

using nlohmann::json;

struct Widget {
  static constexpr Kind kKind{"example.com/v1", "Widget", "widgets"};
  struct Part {
    std::string name;
    std::optional<std::int32_t> size;
  };
  struct Spec {
    std::optional<std::int32_t> replicas;
    std::vector<Part> parts;
  };
  ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Widget::Part, name, size)
KOPP_FIELDS(Widget::Spec, replicas, parts)
KOPP_FIELDS(Widget, metadata, spec)

/// The object in a review.
struct Review {
  struct Request {
    RawJson object;
  };
  Request request;
};
KOPP_FIELDS(Review::Request, object)
KOPP_FIELDS(Review, request)

void SetDefaults(Widget& widget) {
  widget.spec.replicas = 7;
  for (Widget::Part& part : widget.spec.parts) part.size = 1;
}

FieldErrors Validate(const Widget& widget, const Widget* old, AdmissionContext& context) {
  context.Warn(widget.metadata.name);
  if (old == nullptr || old->spec.replicas == widget.spec.replicas) return {};
  return {field::Forbidden("spec.replicas", "is immutable")};
}

/// The webhooks of a program, without a server.
class Webhooks {
 public:
  Webhooks() {
    const auto add = [this](KindWebhook webhook) { registry_.Add(std::move(webhook)); };
    WebhookBuilder<Widget>(add, {.mutate_path = "/mutate", .validate_path = "/validate"})
        .Default(SetDefaults)
        .Validate(Validate);
    registry_.AddAuthentication("/tokens",
                                [](const TokenReview& review) -> std::optional<UserInfo> {
                                  return UserInfo{.username = review.token};
                                },
                                {});
    routes_ = registry_.Routes();
  }

  HttpResponse Send(const std::string& path, std::string_view body) {
    return routes_.at(path).handler({.method = "POST",
                                     .path = path,
                                     .query = "timeout=10s",
                                     .body = std::string(body),
                                     .headers = {{"content-type", "application/json"}}});
  }

 private:
  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_};
  StandaloneCache cache_{
      transport_, {}, Logger({.verbosity = -1, .write = [](std::string_view) {}}), clock_};
  Metrics metrics_;
  WebhookRegistry registry_{{.client = client_,
                             .cache = cache_,
                             .metrics = metrics_,
                             .log = Logger({.write = [](std::string_view) {}}),
                             .clock = clock_}};
  HttpServer::Routes routes_;
};

/// Applies the patch of a response to the object of the request, which must succeed. The object is
/// read as the webhooks read it: a field may appear twice, and skipped values are not validated.
void CheckPatch(const json& response, std::string_view input) {
  if (!response.contains("patch")) return;
  const auto patch = detail::DecodeBase64(response.at("patch").get<std::string>());
  if (!patch) throw Finding("the patch is not Base64");
  std::string text;
  try {
    text = Decode<Review>(input).request.object.text;
  } catch (const DecodeError&) {
    return;  // another value is not valid JSON
  }
  json object;
  try {
    object = ParseLimited(text);
  } catch (const std::invalid_argument&) {
    return;  // a skipped value is not valid JSON
  }
  if (object.patch(json::parse(*patch)).at("spec").at("replicas") != 7) {
    throw Finding("the patch does not set the default");
  }
}

}  // namespace

void FuzzWebhook(std::string_view input) {
  static Webhooks webhooks;
  for (const char* path : {"/mutate", "/validate", "/tokens"}) {
    const HttpResponse response = webhooks.Send(path, input);
    if (response.status != 200 && response.status != 400) {
      throw Finding("status " + std::to_string(response.status) + ": " + response.body);
    }
    const json review = json::parse(response.body);
    if (response.status == 200 && std::string_view(path) == "/mutate") {
      CheckPatch(review.at("response"), input);
    }
  }
}

}  // namespace kopp::fuzz
