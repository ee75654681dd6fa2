#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/client.hpp>
#include <kopp/crd/schema_of.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/markers.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

namespace detail {

/// Collects what KOPP_CRD and KOPP_FIELDS say about one version of a kind. crd_builder.cpp
/// implements it.
class CrdBuilder {
 public:
  explicit CrdBuilder(const Kind& kind);
  ~CrdBuilder();
  CrdBuilder(const CrdBuilder&) = delete;
  CrdBuilder& operator=(const CrdBuilder&) = delete;

  [[nodiscard]] SchemaNode schema();
  void AddNames(std::string_view list, std::span<const std::string_view> names);
  void Add(const markers::Singular& marker);
  void Add(const markers::ListKind& marker);
  void Add(const markers::StorageVersion& marker);
  void Add(const markers::NotServed& marker);
  void Add(const markers::Deprecated& marker);
  void Add(const markers::StatusSubresource& marker);
  void Add(const markers::ScaleSubresource& marker);
  void Add(const markers::SelectableField& marker);
  void Add(const markers::PrintColumn& marker);
  void Add(const markers::Annotation& marker);
  void Add(const markers::Label& marker);

  struct Parts;
  [[nodiscard]] Parts& parts() { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

/// Passes the markers of KOPP_CRD to a CrdBuilder.
class KindDescriber {
 public:
  explicit KindDescriber(CrdBuilder& builder) : builder_(&builder) {}
  template <typename... Markers>
  void VisitKind(const Markers&... all) const {
    (Add(all), ...);
  }

 private:
  template <typename Marker>
  void Add(const Marker& marker) const {
    if constexpr (FieldAndKindMarker<Marker>) {
      ApplyMarker<RawJson>(builder_->schema(), marker);
    } else if constexpr (requires { Marker::kList; }) {
      builder_->AddNames(Marker::kList, marker.names);
    } else {
      builder_->Add(marker);
    }
  }
  CrdBuilder* builder_;
};

/// Describes one version of a kind to a CrdBuilder.
using DescribeCrd = void (*)(CrdBuilder& builder);

template <typename T>
void DescribeCrdOf(CrdBuilder& builder) {
  static_assert(HasVisibleFields<T>,
                "list the fields of this struct with KOPP_FIELDS: a CustomResourceDefinition needs "
                "the schema of its fields");
  SchemaNode schema = builder.schema();
  schema.Enter(&kTypeId<T>);
  KoppVisitFields(static_cast<const T*>(nullptr),
                  FieldDescriber(schema, FieldDescriber::Place::kRoot));
  KoppVisitCrd(static_cast<const T*>(nullptr), KindDescriber(builder));
}

/// One version of a kind and the function that describes it.
struct CrdSource {
  OwningKind kind = {};
  DescribeCrd describe = nullptr;
};

}  // namespace detail

/// A kind whose CustomResourceDefinition the program owns: it has KOPP_CRD.
template <typename T>
concept HasCrd = ApiObject<T> && requires(const T* object, const detail::KindDescriber& visitor) {
  KoppVisitCrd(object, visitor);
};

/// A CustomResourceDefinition. Immutable; copies share the object.
class CustomResourceDefinition {
 public:
  /// "foos.samplecontroller.k8s.io"
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const nlohmann::json& object() const { return *object_; }
  [[nodiscard]] std::string ToJson() const;
  /// Returns a YAML document for `kubectl apply`, with a newline at the end.
  [[nodiscard]] std::string ToYaml() const;

  /// Makes one CustomResourceDefinition of each kind in `sources`, in their order; several versions
  /// of a kind are merged. Throws as CustomResourceDefinitionOf.
  [[nodiscard]] static std::vector<CustomResourceDefinition> Make(
      std::span<const detail::CrdSource> sources);

 private:
  CustomResourceDefinition(std::string name, std::shared_ptr<const nlohmann::json> object)
      : name_(std::move(name)), object_(std::move(object)) {}

  std::string name_;
  std::shared_ptr<const nlohmann::json> object_;
};

namespace detail {
/// Throws std::logic_error unless there is exactly one definition.
void RequireOneKind(std::span<const CustomResourceDefinition> definitions);
}  // namespace detail

/// Returns the CustomResourceDefinition of a kind; of several versions of one kind, merged:
///
///     std::cout << kopp::CustomResourceDefinitionOf<Foo>().ToYaml();
///     kopp::CustomResourceDefinitionOf<v1::Foo, v1beta1::Foo>();
///
/// Throws std::logic_error, with the path of the field, if the API server would refuse it: the
/// schema is not structural, a default does not fit its schema, the versions disagree about group,
/// kind, names or scope, or not exactly one of them is the StorageVersion.
template <HasCrd... Versions>
  requires(sizeof...(Versions) > 0)
[[nodiscard]] CustomResourceDefinition CustomResourceDefinitionOf() {
  const detail::CrdSource sources[] = {{Versions::kKind, &detail::DescribeCrdOf<Versions>}...};
  const auto all = CustomResourceDefinition::Make(sources);
  detail::RequireOneKind(all);
  return all.front();
}

/// Options of InstallCrds.
struct InstallCrdsOptions {
  Duration timeout = std::chrono::seconds(30);  ///< for all definitions together
  /// How long the condition NamesAccepted may be False. The API server needs a moment to judge the
  /// names of a changed definition; until then the condition is that of the earlier state.
  Duration names_timeout = std::chrono::seconds(5);
  Clock& clock = Clock::Real();
};

/// Creates or updates the definitions by server-side apply, and blocks until the API server serves
/// all of their versions: the names are accepted, the condition Established is True, and discovery
/// has the kind in each served version. A definition that is being deleted is created again. Needs
/// the permissions to create, patch, list and watch customresourcedefinitions, and discovery, which
/// each authenticated user has by default. Throws std::runtime_error if the names of a kind are not
/// accepted because another definition has them, or if a version is not served in time; ApiError
/// and TransportError as Client does.
void InstallCrds(const Client& client, std::span<const CustomResourceDefinition> definitions,
                 const InstallCrdsOptions& options = {});

}  // namespace kopp
