#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <kopp/field_error.hpp>
#include <kopp/informer/decode_error.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/webhook/admission.hpp>
#include <kopp/webhook/webhook_options.hpp>

namespace kopp {

/// Which webhook configuration a handler belongs to. The API server calls mutating webhooks one
/// after the other and validates the result; then it calls all validating webhooks.
enum class WebhookType { kMutating, kValidating };

/// A webhook for one kind, as a WebhookBuilder describes it.
struct KindWebhook {
  WebhookType type = WebhookType::kMutating;
  std::string path = {};
  OwningKind kind = {};
  AdmissionHandler handler = {};
  /// Returns the operations that the handler has functions for. Empty: CREATE and UPDATE.
  std::function<std::vector<AdmissionOperation>()> operations = {};
  WebhookOptions options = {};
};

namespace detail {

/// An object as a struct had it before and after a change, encoded.
struct EncodedChange {
  std::string before = {};
  std::string after = {};
};

/// Returns the answer with the patch that carries the change over to the object of the request.
AdmissionResponse AnswerWithChange(
    const AdmissionRequest& request,
    const std::function<EncodedChange(std::string_view object)>& change);

/// The functions of Validate and ValidateDelete; both may be empty.
struct ValidatingFunctions {
  using Function = std::function<FieldErrors(const AdmissionRequest&, AdmissionContext&)>;
  Function validate = {};
  Function validate_delete = {};

  /// Returns the operations that there are functions for.
  [[nodiscard]] std::vector<AdmissionOperation> Operations() const;
};
AdmissionHandler ValidatingHandler(std::shared_ptr<const ValidatingFunctions> functions);

/// Returns the path of the webhooks of a kind in controller-runtime: "/mutate-apps-v1-deployment".
std::string WebhookPath(WebhookType type, const Kind& kind);

/// Decodes an object of a request. `field` is its name there. Throws AdmissionDenied if it is
/// absent or not a `T`.
template <typename T>
T DecodeAdmitted(std::string_view text, const char* field) {
  if (text.empty()) {
    throw AdmissionDenied(std::string("there is no content to decode: the request has no ") + field,
                          400);
  }
  try {
    return Decode<T>(text);
  } catch (const DecodeError& error) {
    throw AdmissionDenied(std::string("cannot decode ") + field + ": " + error.what(), 400);
  }
}

/// Calls a function that returns FieldErrors or nothing.
template <typename F, typename... Args>
FieldErrors CallValidator(const F& function, Args&... args) {
  if constexpr (std::convertible_to<std::invoke_result_t<const F&, Args&...>, FieldErrors>) {
    return function(args...);
  } else {
    static_assert(std::is_void_v<std::invoke_result_t<const F&, Args&...>>,
                  "the function must return kopp::FieldErrors or nothing");
    function(args...);
    return {};
  }
}

}  // namespace detail

/// Adds the functions of the webhooks for objects of `T`. Complete it before Manager::Run, on one
/// thread. Each of its functions may be called once, and throws std::logic_error otherwise. The
/// functions that you pass are called by several threads at the same time, so they must not change
/// what they have captured.
///
///     manager.AddWebhook<Foo>()
///         .Default([](Foo& foo) { if (!foo.spec.replicas) foo.spec.replicas = 1; })
///         .Validate([](const Foo& foo, const Foo* old, kopp::AdmissionContext& context) {
///           kopp::FieldErrors errors;
///           if (old != nullptr && old->spec.name != foo.spec.name) {
///             errors.push_back(kopp::field::Forbidden("spec.name", "is immutable"));
///           }
///           return errors;
///         })
///         .ValidateDelete([](const Foo& foo) {
///           if (foo.spec.keep) throw kopp::AdmissionDenied("spec.keep is set");
///         });
///
/// A function may throw. Each exception denies the request, and its text is shown to the client:
///
/// | exception | code |
/// |---|---|
/// | AdmissionDenied | its own, 403 by default |
/// | ApiError, such as of AdmissionContext::client | that of the error, with reason and causes |
/// | another exception | 500; it is logged and counted in controller_runtime_webhook_panics_total |
///
/// controller-runtime denies with 403 for any error that a validator returns, and with 500 for a
/// panic.
template <ApiObject T>
class WebhookBuilder {
 public:
  using Add = std::function<void(KindWebhook webhook)>;

  WebhookBuilder(Add add, WebhookOptions options)
      : add_(std::move(add)), options_(std::move(options)) {}

  /// Calls `function(T& object)` or `function(T& object, AdmissionContext& context)` when an object
  /// is created or updated. It sets fields that the client has left out. Fields that `T` does not
  /// have stay in the object, also in the items of lists: the patch is the difference between
  /// `object` before and after the call.
  ///
  /// The API server may call it several times for one write: a second call must change nothing.
  template <typename F>
  WebhookBuilder& Default(F function) {
    static_assert(detail::HasFieldList<T>, "Default: the type must have a list KOPP_FIELDS");
    constexpr bool kWithContext = std::is_invocable_v<const F&, T&, AdmissionContext&>;
    static_assert(kWithContext || std::is_invocable_v<const F&, T&>,
                  "Default: the function must take (T&) or (T&, kopp::AdmissionContext&)");
    AddHandler({.handler = [function = std::move(function)](const AdmissionRequest& request,
                                                            AdmissionContext& context) {
      return detail::AnswerWithChange(request, [&](std::string_view text) {
        T object = detail::DecodeAdmitted<T>(text, "object");
        detail::EncodedChange change{.before = Encode(object)};
        if constexpr (kWithContext) {
          function(object, context);
        } else {
          function(object);
        }
        change.after = Encode(object);
        return change;
      });
    }});
    return *this;
  }

  /// Calls `function` when an object is created or updated, after all mutating webhooks. It takes
  /// `(const T& object)`, `(const T& object, AdmissionContext& context)` or
  /// `(const T& object, const T* old, AdmissionContext& context)`, where `old` is the stored
  /// object, or null for a create. It returns FieldErrors or nothing. With errors, the client gets
  /// 422 in the words of the API server, and each error as a cause.
  template <typename F>
  WebhookBuilder& Validate(F function) {
    constexpr bool kWithOld = std::is_invocable_v<const F&, const T&, const T*&, AdmissionContext&>;
    constexpr bool kWithContext = std::is_invocable_v<const F&, const T&, AdmissionContext&>;
    static_assert(kWithOld || kWithContext || std::is_invocable_v<const F&, const T&>,
                  "Validate: the function must take (const T&), (const T&, "
                  "kopp::AdmissionContext&) or (const T&, const T*, kopp::AdmissionContext&)");
    NewFunction(&detail::ValidatingFunctions::validate) = [function = std::move(function)](
                                                              const AdmissionRequest& request,
                                                              AdmissionContext& context) {
      const T object = detail::DecodeAdmitted<T>(request.object.text, "object");
      if constexpr (kWithOld) {
        std::optional<T> old;
        if (request.operation == AdmissionOperation::kUpdate) {
          old = detail::DecodeAdmitted<T>(request.oldObject.text, "oldObject");
        }
        const T* pointer = old ? &*old : nullptr;
        return detail::CallValidator(function, object, pointer, context);
      } else if constexpr (kWithContext) {
        return detail::CallValidator(function, object, context);
      } else {
        return detail::CallValidator(function, object);
      }
    };
    return *this;
  }

  /// Calls `function(const T& object)` or `function(const T& object, AdmissionContext& context)`
  /// before an object is deleted. It returns FieldErrors or nothing, as for Validate. The rule of
  /// the webhook configuration must contain the operation DELETE.
  template <typename F>
  WebhookBuilder& ValidateDelete(F function) {
    constexpr bool kWithContext = std::is_invocable_v<const F&, const T&, AdmissionContext&>;
    static_assert(kWithContext || std::is_invocable_v<const F&, const T&>,
                  "ValidateDelete: the function must take (const T&) or (const T&, "
                  "kopp::AdmissionContext&)");
    NewFunction(&detail::ValidatingFunctions::validate_delete) =
        [function = std::move(function)](const AdmissionRequest& request,
                                         AdmissionContext& context) {
          const T object = detail::DecodeAdmitted<T>(request.oldObject.text, "oldObject");
          if constexpr (kWithContext) {
            return detail::CallValidator(function, object, context);
          } else {
            return detail::CallValidator(function, object);
          }
        };
    return *this;
  }

  /// Calls `handler` for each request at the path of the type: for subresources such as pods/status
  /// or scale, other operations, or changes that a struct cannot express. Use it instead of Default
  /// (kMutating), or of Validate and ValidateDelete (kValidating).
  WebhookBuilder& Handle(WebhookType type, const AdmissionHandler& handler) {
    AddHandler({.type = type, .handler = handler});
    return *this;
  }

 private:
  void AddHandler(KindWebhook webhook) {
    const bool is_mutating = webhook.type == WebhookType::kMutating;
    webhook.path = is_mutating ? options_.mutate_path : options_.validate_path;
    if (webhook.path.empty()) webhook.path = detail::WebhookPath(webhook.type, T::kKind);
    webhook.kind = OwningKind(T::kKind);
    webhook.options = options_;
    add_(std::move(webhook));
  }

  detail::ValidatingFunctions::Function& NewFunction(
      detail::ValidatingFunctions::Function detail::ValidatingFunctions::*member) {
    if (!validating_) {
      validating_ = std::make_shared<detail::ValidatingFunctions>();
      AddHandler({.type = WebhookType::kValidating,
                  .handler = detail::ValidatingHandler(validating_),
                  .operations = [functions = validating_] { return functions->Operations(); }});
    }
    auto& function = (*validating_).*member;
    if (function) throw std::logic_error("a webhook has two functions for one operation");
    return function;
  }

  Add add_;
  WebhookOptions options_;
  std::shared_ptr<detail::ValidatingFunctions> validating_;  // null before the first function
};

}  // namespace kopp
