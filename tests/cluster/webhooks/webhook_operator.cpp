// An operator without a controller. Its webhooks show tests/cluster/webhook_test.sh what an API
// server does with them.
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/signals.hpp>

namespace {

struct Widget {
  static constexpr kopp::Kind kKind{"shop.example.com/v1", "Widget", "widgets"};
  struct Part {
    std::string name;
    std::optional<std::string> image;
    std::optional<int> size;
  };
  struct Spec {
    std::optional<int> replicas;
    std::optional<std::string> owner;
    std::optional<std::string> color;
    std::vector<Part> parts;
  };
  struct Status {
    std::optional<int> ready;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
  Status status;
};
KOPP_FIELDS(Widget::Part, name, image, size)
KOPP_FIELDS(Widget::Spec, replicas, owner, color, parts)
KOPP_FIELDS(Widget::Status, ready)
KOPP_FIELDS(Widget, metadata, spec, status)
KOPP_CRD(Widget, StatusSubresource())

// The fields of a Widget that the webhooks use: neither color nor size.
struct WidgetView {
  static constexpr kopp::Kind kKind = Widget::kKind;
  struct Part {
    std::string name;
    std::optional<std::string> image;
  };
  struct Spec {
    std::optional<int> replicas;
    std::string owner;
    std::vector<Part> parts;
  };
  struct Status {
    std::optional<int> ready;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
  Status status;
};
KOPP_FIELDS(WidgetView::Part, name, image)
KOPP_FIELDS(WidgetView::Spec, replicas, owner, parts)
KOPP_FIELDS(WidgetView::Status, ready)
KOPP_FIELDS(WidgetView, metadata, spec, status)

void SetDefaults(WidgetView& widget, kopp::AdmissionContext& context) {
  if (!widget.spec.replicas) widget.spec.replicas = 1;
  if (widget.spec.owner.empty()) widget.spec.owner = context.request.userInfo.username;
  for (WidgetView::Part& part : widget.spec.parts) {
    if (!part.image) part.image = "registry.example.com/" + part.name;
  }
}

kopp::FieldErrors Validate(const WidgetView& widget, const WidgetView* old,
                           kopp::AdmissionContext& context) {
  if (widget.spec.owner == "nobody") throw std::out_of_range("nobody is not in the map");
  if (widget.spec.owner == "patient") {
    static_cast<void>(kopp::SleepUntil(context.clock, kopp::TimePoint::max(), context.stop));
    context.log.Info("The API server does not wait any longer");
    throw std::runtime_error("stopped");
  }
  kopp::FieldErrors errors;
  const int replicas = widget.spec.replicas.value_or(1);
  if (replicas > 100) {
    errors.push_back(kopp::field::Invalid("spec.replicas", replicas, "must be at most 100"));
  }
  if (old != nullptr && old->spec.owner != widget.spec.owner) {
    errors.push_back(kopp::field::Forbidden("spec.owner", "is immutable"));
  }
  if (replicas > 10) context.Warn("more than 10 replicas are expensive");
  context.Audit("replicas", std::to_string(replicas));
  return errors;
}

void ValidateDelete(const WidgetView& widget) {
  if (widget.metadata.labels.contains("keep")) throw kopp::AdmissionDenied("it has the label keep");
}

kopp::AdmissionResponse CheckStatus(const kopp::AdmissionRequest& request,
                                    kopp::AdmissionContext& context) {
  context.Warn(request.subResource + " of " + request.name);
  return {};
}

std::optional<kopp::UserInfo> Authenticate(const kopp::TokenReview& review) {
  if (review.token != "token-of-alice") return std::nullopt;
  return kopp::UserInfo{.username = "alice", .groups = {"system:masters"}};
}

}  // namespace

int main(int argc, char** argv) {
  kopp::Manager manager{kopp::Options::FromCommandLine(argc, argv)};
  manager.AddCrd<Widget>();
  manager.AddWebhook<WidgetView>({.timeout = std::chrono::seconds(2)})
      .Default(SetDefaults)
      .Validate(Validate)
      .ValidateDelete(ValidateDelete);
  manager
      .AddWebhook<kopp::ConfigMap>(
          {.rule = {.object_selector = {.matchLabels = {{"marked", "yes"}}}}})
      .Default([](kopp::ConfigMap& map) { map.data["marked-by"] = "kopp"; });
  manager
      .AddWebhook<kopp::Secret>({.rule = {.object_selector = {.matchLabels = {{"marked", "yes"}}}},
                                 .failure_policy = kopp::WebhookOptions::FailurePolicy::kIgnore})
      .Default([](kopp::Secret& secret) { secret.metadata.labels["marked-by"] = "kopp"; });
  manager.AddWebhook<kopp::Namespace>({.rule = {.resources = {"namespaces/finalize"}}})
      .Handle(kopp::WebhookType::kValidating, CheckStatus);
  manager.AddAuthentication("/authenticate", Authenticate);
  return manager.Run(kopp::StopOnSignal());
}
