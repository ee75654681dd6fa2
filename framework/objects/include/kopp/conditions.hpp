#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/client.hpp>
#include <kopp/informer/fields.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// One condition in the status of an object: metav1.Condition. A status has a list of them, each
/// with another type:
///
///     struct Status {
///       std::vector<kopp::Condition> conditions;
///     };
///
/// Give the list of the CRD `x-kubernetes-list-type: map` with the key `type`. Write a condition
/// "Ready" as the summary: `kubectl wait --for=condition=Ready` waits for it.
struct Condition {
  std::string type = {};                ///< "Ready", or with a prefix, "example.com/BucketReady"
  std::string status = {};              ///< "True", "False" or "Unknown"
  std::int64_t observedGeneration = 0;  ///< metadata.generation of the object that was judged
  std::string lastTransitionTime = {};  ///< when `status` changed last; see SetCondition
  std::string reason = {};              ///< one CamelCase word for programs: "BucketCreated"
  /// A sentence for people. It is optional because an empty one must be written, too: CRDs require
  /// the field.
  std::optional<std::string> message = "";
  friend bool operator==(const Condition&, const Condition&) = default;
};
KOPP_FIELDS(Condition, type, status, observedGeneration, lastTransitionTime, reason, message)
/// Returns the schema of a condition in a CustomResourceDefinition: that of metav1.Condition.
[[nodiscard]] std::string_view KoppSchema(const Condition* type);

/// Adds `condition` to `conditions`, or replaces the one of the same type. Returns whether
/// `conditions` has changed.
///
///     Foo::Status status{.conditions = kopp::SelectConditions(foo.status.conditions, {"Ready"})};
///     kopp::SetCondition(status.conditions, {.type = "Ready",
///                                            .status = "True",
///                                            .observedGeneration = *foo.metadata.generation,
///                                            .reason = "BucketCreated"});
///     kopp::ApplyStatusIfChanged(ctx.client, foo, status);
///
/// lastTransitionTime is kept if the status stays the same. Otherwise it becomes that of
/// `condition`, or, if that is empty, the time of `clock`. A message is cut to 32768 bytes. Throws
/// std::invalid_argument, with the field and its rule, if the type, the status or the reason is not
/// what the API server accepts, or if observedGeneration is negative. Go: meta.SetStatusCondition
/// of k8s.io/apimachinery, which does not validate.
bool SetCondition(std::vector<Condition>& conditions, Condition condition,
                  const Clock& clock = Clock::Real());

/// Removes the condition of this type. Returns whether there was one.
bool RemoveCondition(std::vector<Condition>& conditions, std::string_view type);

/// Returns the condition of this type, or null if there is none. The pointer is valid until
/// `conditions` is changed or destroyed.
[[nodiscard]] const Condition* FindCondition(const std::vector<Condition>& conditions,
                                             std::string_view type);

/// Returns the conditions of these types, in the order of `conditions`. Start with it to write the
/// conditions that your program owns: SetCondition keeps their lastTransitionTime.
[[nodiscard]] std::vector<Condition> SelectConditions(
    const std::vector<Condition>& conditions, std::initializer_list<std::string_view> types);

/// Returns whether there is a condition of this type with the status "True".
[[nodiscard]] bool IsConditionTrue(const std::vector<Condition>& conditions, std::string_view type);

/// Returns whether there is a condition of this type with the status "False".
[[nodiscard]] bool IsConditionFalse(const std::vector<Condition>& conditions,
                                    std::string_view type);

namespace detail {

/// Returns whether the encoded status `stored` equals `status`, apart from further conditions.
[[nodiscard]] bool HasStatus(const std::string& stored, const std::string& status);

}  // namespace detail

/// Writes `status` with Client::ApplyStatus unless the status of `object` has it already. Returns
/// whether it was written. It saves a request for each reconcile that changes nothing.
///
/// `status` must have only the fields and conditions that this program owns, so do not copy
/// `object.status` if there are other writers: the apply takes over what it contains, and would
/// write back old values. Conditions of other types in `object` are no difference. So a condition
/// of this program is not removed by leaving it out: call ApplyStatus for that. All other fields of
/// `T::status` are compared; leave those of other writers out of the struct. Throws what
/// ApplyStatus throws.
template <ApiObject T>
bool ApplyStatusIfChanged(const Client& client, const T& object, const decltype(T::status)& status,
                          const ApplyOptions& options = {}) {
  if (detail::HasStatus(Encode(object.status), Encode(status))) return false;
  client.ApplyStatus(object, status, options);
  return true;
}

}  // namespace kopp
