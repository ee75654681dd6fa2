#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/discovery.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Thrown by RestMapper if the API server does not serve a kind, resource or group. what() has the
/// versions that it serves instead, the groups that could not be read, and a remedy. Go:
/// meta.NoKindMatchError, meta.NoResourceMatchError.
class NoMatchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Finds the resource of a kind, and the kind of a resource, for kinds that are only known at run
/// time. Go: meta.RESTMapper; it loads and reloads as controller-runtime's lazy mapper does.
///
///     kopp::RestMapper mapper(transport);
///     const kopp::OwningKind web = mapper.ForResource("deploy").kind;   // deployments.v1.apps
///     const kopp::OwningKind foo = mapper.ForKind("samplecontroller.k8s.io", "Foo").kind;
///     client.Dynamic(foo).List();
///
/// The first call asks the API server for all resources. A call for something unknown asks again,
/// because a CustomResourceDefinition may have been installed since; but not within
/// kMinReloadInterval of the last time. If a group cannot be read then, its previous resources stay
/// known. If the whole load fails, all calls for something unknown throw this failure until
/// kMinReloadInterval has passed.
///
/// Thread-safe; concurrent calls share one answer of the API server. A call that asks the API
/// server blocks as DiscoveryClient::Groups does, and throws what that throws. Other calls do not
/// block. The transport and the clock must outlive the mapper.
class RestMapper {
 public:
  static constexpr Duration kMinReloadInterval = std::chrono::seconds(5);

  /// After a stop request, calls that ask the API server throw TransportError (kCancelled).
  explicit RestMapper(Transport& transport, Clock& clock = Clock::Real(),
                      std::stop_token stop = {});
  RestMapper(const RestMapper&) = delete;
  RestMapper& operator=(const RestMapper&) = delete;

  /// Returns the resource of a kind, for example of "apps" and "Deployment"; the core group is "".
  /// Without `version`, uses the version that the server prefers, or the next one that has the
  /// kind. Throws NoMatchError. Go: RESTMapping.
  [[nodiscard]] ApiResource ForKind(std::string_view group, std::string_view kind,
                                    std::string_view version = {});

  /// Returns the resource that `text` names as an argument of kubectl does: by plural, singular or
  /// short name, alone ("deploy"), with its group ("deployments.apps"), or with version and group
  /// ("deployments.v1.apps", "pods.v1."). Ignores upper and lower case of the name. If several
  /// groups have the name, uses the first group in the order of the server. Throws NoMatchError.
  /// Go: KindFor and ResourceFor.
  [[nodiscard]] ApiResource ForResource(std::string_view text);

  /// Returns the version of `group` that the server prefers, such as "v1". Throws NoMatchError.
  [[nodiscard]] std::string PreferredVersion(std::string_view group);

 private:
  using Groups = std::vector<ApiGroup>;
  using Snapshot = std::shared_ptr<const Groups>;
  struct State {
    Snapshot groups;             ///< null before the first load
    std::exception_ptr error{};  ///< of the last load; null if it succeeded
    TimePoint tried{};           ///< the end of the last load
  };

  template <typename Find, typename Explain>
  auto Lookup(Find find, Explain explain);
  [[nodiscard]] Snapshot Known();
  [[nodiscard]] Snapshot Reload(const Snapshot& outdated);

  DiscoveryClient discovery_;
  Clock& clock_;
  detail::Guarded<State> state_;
  std::mutex loading_;  // held by the thread that asks the API server, so that others wait for it
};

}  // namespace kopp
