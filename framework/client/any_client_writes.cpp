// The calls of Client that write.
#include "client/resource_path.hpp"
#include "client/write_listener.hpp"
#include "client/write_scope.hpp"
#include "json_text.hpp"
#include "written_object.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/detail/any_client.hpp>
#include <kopp/informer/detail/resource_path.hpp>

namespace kopp {
namespace {

using detail::CollectionPath;
using detail::ObjectPath;
using detail::WithQuery;
using nlohmann::json;

constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";

const char* ContentType(Patch::Type type) {
  switch (type) {
    case Patch::Type::kMerge:
      return "application/merge-patch+json";
    case Patch::Type::kJson:
      return "application/json-patch+json";
    case Patch::Type::kStrategicMerge:
      break;
  }
  return "application/strategic-merge-patch+json";
}

/// Returns the value of the query parameter fieldValidation. Warn is the default of the API server.
const char* QueryValue(FieldValidation validation) {
  if (validation == FieldValidation::kWarn) return "";
  return validation == FieldValidation::kStrict ? "Strict" : "Ignore";
}

/// Returns whether a CustomResourceDefinition may lack the subresource.
bool IsOptional(std::string_view subresource) {
  return subresource == "status" || subresource == "scale";
}

/// Returns `error` with what else it may mean: the API server says that the object is not found
/// also if it exists, but its CustomResourceDefinition lacks the subresource.
ApiError SubresourceNotFound(const ApiError& error, const ApiRequest& request,
                             const std::string& subresource) {
  Status status = error.status();
  status.message += ". If the object exists, its CustomResourceDefinition has no subresource " +
                    subresource + ": add " +
                    (subresource == "status" ? "StatusSubresource()" : "ScaleSubresource(…)") +
                    " to KOPP_CRD";
  return {request.method + " " + request.target, std::move(status)};
}

/// Calls the check of this thread for the write of a whole object.
void CheckWrite(const Kind& kind, const ObjectKey& key, std::string_view object,
                std::string_view subresource) {
  if (subresource.empty()) WriteScope::BeforeWrite(kind, key, object);
}

}  // namespace

/// Sends a write request with its options. `force` is the query parameter of an apply.
AnyClient::Written AnyClient::Write(const Kind& kind, const Target& target, ApiRequest request,
                                    const WriteOptions& options, std::string_view force) const {
  const bool dry_run = dry_run_ || options.dry_run;
  const std::string& manager =
      options.field_manager.empty() ? field_manager_ : options.field_manager;
  request.target = WithQuery(
      std::move(request.target),
      {{"fieldManager", manager},
       {"force", force},
       {"dryRun", dry_run ? "All" : ""},
       {"fieldValidation", QueryValue(options.field_validation.value_or(field_validation_))}});
  const bool is_status = options.subresource == "status";
  try {
    return {
        .text = CallWrite(request, dry_run,
                          {.verb = request.content_type == kApplyPatch ? ClientWrite::Verb::kApply
                                                                       : ClientWrite::Verb::kUpdate,
                           .kind = kind,
                           .key = target.key,
                           .subresource = options.subresource,
                           .field_manager = manager,
                           .precondition = target.resource_version}),
        .report = !dry_run && observer_ != nullptr,
        .is_object = is_status || options.subresource.empty()};
  } catch (const ApiError& error) {
    if (IsOptional(options.subresource) && error.IsNotFound() && !IsBuiltInGroup(kind.group())) {
      throw SubresourceNotFound(error, request, options.subresource);
    }
    throw;
  }
}

const std::string& AnyClient::Reported(const Kind& kind, const Written& written) const {
  if (written.report) ReportWrites(kind, [&] { return WrittenObjects(kind, written.text); });
  return written.text;
}

/// Reports what `decode` has read, so that the response is parsed only once.
void AnyClient::DecodeWritten(const Kind& kind, const Written& written, void* object,
                              const ObjectMeta* (*decode)(std::string_view text, void* to)) const {
  const ObjectMeta* metadata = nullptr;
  try {
    metadata = decode(written.text, object);
  } catch (...) {  // such as a view that does not fit; but the object was written
    static_cast<void>(Reported(kind, written));
    throw;
  }
  if (!written.report) return;
  const auto state = written.is_object ? WrittenObjectOf(*metadata) : std::nullopt;
  if (state) return observer_->OnWrite(kind, *state);
  static_cast<void>(Reported(kind, written));
}

/// Reports the objects that `decode` returns. A response that cannot be decoded is not reported:
/// the caller decodes it, too, and throws.
void AnyClient::ReportWrites(const Kind& kind,
                             const std::function<std::vector<WrittenObject>()>& decode) const {
  if (observer_ == nullptr) return;
  try {
    for (const WrittenObject& object : decode()) observer_->OnWrite(kind, object);
  } catch (const DecodeError&) {
  }
}

AnyClient::Written AnyClient::WriteNew(const Kind& kind, Body body,
                                       const WriteOptions& options) const {
  if (kind.scope == Scope::kNamespaced && body.key.ns.empty()) {
    throw std::invalid_argument("the " + std::string(kind.kind) +
                                " to create has no metadata.namespace: set it");
  }
  CheckWrite(kind, body.key, body.text, options.subresource);
  return Write(
      kind, body,
      {.method = "POST",
       .target = options.subresource.empty() ? CollectionPath(kind, body.key.ns)
                                             : ObjectPath(kind, body.key, options.subresource),
       .body = std::move(body.text)},
      options);
}

AnyClient::Written AnyClient::Create(const Kind& kind, const json& object,
                                     const WriteOptions& options) const {
  return WriteNew(kind, BodyOf(kind, options.subresource, object), options);
}

AnyClient::Written AnyClient::CreateEncoded(const Kind& kind, const std::string& object,
                                            const WriteOptions& options) const {
  return WriteNew(kind, BodyOfEncoded(kind, options.subresource, object), options);
}

AnyClient::Written AnyClient::WriteExisting(const Kind& kind, Body body,
                                            const WriteOptions& options) const {
  CheckWrite(kind, body.key, body.text, options.subresource);
  const auto send = [&](std::string text) {
    return Write(kind, body,
                 {.method = "PUT",
                  .target = ObjectPath(kind, body.key, options.subresource),
                  .body = std::move(text)},
                 options);
  };
  return WriteOwned(kind, body, options, std::cref(send));  // without an allocation
}

AnyClient::Written AnyClient::Update(const Kind& kind, const json& object,
                                     const WriteOptions& options) const {
  return WriteExisting(kind, BodyOf(kind, options.subresource, object), options);
}

AnyClient::Written AnyClient::UpdateEncoded(const Kind& kind, const std::string& object,
                                            const WriteOptions& options) const {
  return WriteExisting(kind, BodyOfEncoded(kind, options.subresource, object), options);
}

AnyClient::Written AnyClient::Patch(const Kind& kind, const ObjectKey& key,
                                    const kopp::Patch& patch, const WriteOptions& options) const {
  const bool is_object = patch.type != Patch::Type::kJson;
  const bool has_precondition = is_object && listener_ != nullptr;
  const Target target{KeyFor(kind, key), has_precondition ? PreconditionOf(patch.text) : ""};
  if (is_object) CheckWrite(kind, target.key, patch.text, options.subresource);
  return Write(kind, target,
               {.method = "PATCH",
                .target = ObjectPath(kind, target.key, options.subresource),
                .body = patch.text,
                .content_type = ContentType(patch.type)},
               options);
}

AnyClient::Written AnyClient::WriteApplied(const Kind& kind, Body body,
                                           const ApplyOptions& options) const {
  CheckWrite(kind, body.key, body.text, options.subresource);
  const WriteOptions write{.subresource = options.subresource,
                           .field_manager = options.field_manager,
                           .dry_run = options.dry_run,
                           .field_validation = options.field_validation,
                           .adopt = options.adopt};
  const char* const force = options.force ? "true" : "";
  const bool may_take_over =
      former_ && options.field_manager.empty() && !dry_run_ && !options.dry_run;
  const auto send = [&](std::string text) {
    ApiRequest request{.method = "PATCH",
                       .target = ObjectPath(kind, body.key, options.subresource),
                       .body = std::move(text),
                       .content_type = std::string(kApplyPatch)};
    return may_take_over ? ApplyAndTakeOver(kind, body, request, write, force)
                         : Write(kind, body, std::move(request), write, force);
  };
  return WriteOwned(kind, body, write, std::cref(send));
}

AnyClient::Written AnyClient::Apply(const Kind& kind, const json& object,
                                    const ApplyOptions& options) const {
  return WriteApplied(kind, BodyOf(kind, options.subresource, object), options);
}

AnyClient::Written AnyClient::ApplyEncoded(const Kind& kind, const std::string& object,
                                           const ApplyOptions& options) const {
  return WriteApplied(kind, BodyOfEncoded(kind, options.subresource, object), options);
}

AnyClient::Written AnyClient::ApplyStatusEncoded(const Kind& kind, const ObjectMeta& metadata,
                                                 const std::string& status,
                                                 ApplyOptions options) const {
  ObjectMeta identity;
  identity.name = metadata.name;
  identity.ns = metadata.ns;
  identity.uid = metadata.uid;
  options.subresource = "status";
  return ApplyEncoded(kind, R"({"metadata":)" + Encode(identity) + R"(,"status":)" + status + "}",
                      options);
}

Scale AnyClient::UpdateScale(const Kind& kind, const Scale& scale,
                             const WriteOptions& options) const {
  WriteOptions scale_options = options;
  scale_options.subresource = "scale";
  return Decode<Scale>(Reported(kind, Update(kind, scale, scale_options)));
}

}  // namespace kopp
