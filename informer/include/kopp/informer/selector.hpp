#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kopp {

/// Selects objects by their labels, as `kubectl get -l` does. An object matches if it satisfies all
/// requirements. client-go: labels.Selector.
///
///     const auto selector = kopp::LabelSelector().Equals("app", "web").In("tier", {"a", "b"});
///     client.List<Pod>({.labels = selector});  // app=web,tier in (a,b)
///     selector.Matches(pod.metadata.labels);   // the same, without a request
///
/// A value type. Several threads may use a const object at the same time.
class LabelSelector {
 public:
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan };
  struct Requirement {
    std::string key{};
    Operator op = Operator::kIn;
    /// One or more for kIn and kNotIn, one integer for kGreaterThan and kLessThan, else none.
    std::vector<std::string> values{};

    friend bool operator==(const Requirement&, const Requirement&) = default;
  };

  /// Matches all objects.
  LabelSelector() = default;
  /// Matches the objects that have all of `labels`.
  explicit LabelSelector(const std::map<std::string, std::string>& labels);
  /// As Parse, so that a text may be used where a selector is expected.
  template <std::convertible_to<std::string_view> Text>
  LabelSelector(const Text& text)  // NOLINT(google-explicit-constructor): the same selector
      : LabelSelector(Parse(text)) {}

  /// Parses "app=web,tier in (a,b),!old,replicas>3". Operators are = == != in notin < >; a key
  /// alone requires that the label exists, "!key" that it does not. Throws std::invalid_argument
  /// with the message of kube-apiserver.
  [[nodiscard]] static LabelSelector Parse(std::string_view text);

  // Each of these adds a requirement and returns *this. They throw std::invalid_argument if the key
  // or a value is not valid in a label.
  LabelSelector& Equals(const std::string& key, const std::string& value);
  /// Also matches objects without the label.
  LabelSelector& NotEquals(const std::string& key, const std::string& value);
  /// Requires at least one value.
  LabelSelector& In(const std::string& key, const std::vector<std::string>& values);
  /// Requires at least one value. Also matches objects without the label.
  LabelSelector& NotIn(const std::string& key, const std::vector<std::string>& values);
  LabelSelector& Exists(const std::string& key);
  LabelSelector& DoesNotExist(const std::string& key);
  /// Matches objects whose label is an integer greater than `bound`.
  LabelSelector& GreaterThan(const std::string& key, long long bound);
  /// Matches objects whose label is an integer less than `bound`.
  LabelSelector& LessThan(const std::string& key, long long bound);

  [[nodiscard]] bool Matches(const std::map<std::string, std::string>& labels) const;
  /// Whether it has no requirement and so matches all objects.
  [[nodiscard]] bool empty() const { return requirements_.empty(); }
  [[nodiscard]] const std::vector<Requirement>& requirements() const { return requirements_; }

  /// Returns the text for the query parameter labelSelector, which Parse reads. The caller has to
  /// percent-encode it in a URL; Client does.
  [[nodiscard]] std::string ToString() const;

  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;

 private:
  LabelSelector& Add(Requirement requirement);

  std::vector<Requirement> requirements_;
};

/// Selects objects by the values of fields, as `kubectl get --field-selector` does. An object
/// matches if it satisfies all requirements. The API server supports only some fields of each kind:
/// metadata.name and metadata.namespace of all kinds, and for example status.phase of Pods.
/// client-go: fields.Selector.
///
///     const auto selector = kopp::FieldSelector().NotEquals("status.phase", "Failed");
///     client.List<Pod>({.fields = selector});
///
/// A value type. Several threads may use a const object at the same time.
class FieldSelector {
 public:
  struct Requirement {
    std::string field{};
    bool equals = true;  ///< false: the field must not have the value
    std::string value{};

    friend bool operator==(const Requirement&, const Requirement&) = default;
  };
  /// Returns the value of a field of an object, or nullptr if the object does not have the field.
  using FindValue = std::function<const std::string*(const std::string& field)>;

  /// Matches all objects.
  FieldSelector() = default;
  /// As Parse, so that a text may be used where a selector is expected.
  template <std::convertible_to<std::string_view> Text>
  FieldSelector(const Text& text)  // NOLINT(google-explicit-constructor): the same selector
      : FieldSelector(Parse(text)) {}

  /// Parses "metadata.name=a,status.phase!=Failed". The operators are = == !=. In a value, a
  /// backslash precedes a comma, an equals sign or a backslash. Throws std::invalid_argument with
  /// the message of kube-apiserver.
  [[nodiscard]] static FieldSelector Parse(std::string_view text);

  // Each of these adds a requirement and returns *this.
  FieldSelector& Equals(std::string field, std::string value);
  /// Also matches objects without the field.
  FieldSelector& NotEquals(std::string field, std::string value);

  [[nodiscard]] bool Matches(const FindValue& find) const;
  /// Whether it has no requirement and so matches all objects.
  [[nodiscard]] bool empty() const { return requirements_.empty(); }
  [[nodiscard]] const std::vector<Requirement>& requirements() const { return requirements_; }

  /// Returns the text for the query parameter fieldSelector, which Parse reads. The caller has to
  /// percent-encode it in a URL; Client does.
  [[nodiscard]] std::string ToString() const;

  friend bool operator==(const FieldSelector&, const FieldSelector&) = default;

 private:
  std::vector<Requirement> requirements_;
};

/// Selects objects, at the API server and in a cache. An empty part does not restrict it.
///
///     client.List<Pod>({.ns = "shop", .labels = "app=web", .fields = "status.phase!=Failed"});
///     cache.List<Pod>({.ns = "shop", .labels = "app=web"});
///
/// controller-runtime: InNamespace, MatchingLabelsSelector, MatchingFieldsSelector.
struct Selector {
  std::string ns = {};  ///< namespace
  LabelSelector labels = {};
  FieldSelector fields = {};
};

/// Order and size of a list that a cache returns.
struct ListOrder {
  std::size_t limit = 0;      ///< at most this number of objects; 0: all
  bool sort_by_name = false;  ///< by namespace, then name; with a limit: the first ones
};

}  // namespace kopp
