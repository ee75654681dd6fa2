#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/config.hpp>
#include <kopp/transport.hpp>

namespace kopp::conformance {

using namespace std::chrono_literals;
using nlohmann::json;

/// The parsed response of the API server. gtest prints its status and its full text when an
/// expectation on it fails.
struct JsonResponse {
  int status = 0;
  json body{};  ///< null if the text is not JSON
  std::string text{};
  std::vector<std::string> warnings{};
  std::optional<Duration> retry_after{};

  /// Returns the value at a JSON pointer ("/metadata/name"), or null if there is none.
  [[nodiscard]] json at(const std::string& pointer) const;
  [[nodiscard]] std::string str(const std::string& pointer) const;  ///< "" if no string is there
  [[nodiscard]] std::string name() const { return str("/metadata/name"); }
  [[nodiscard]] std::string resource_version() const { return str("/metadata/resourceVersion"); }
  [[nodiscard]] std::string reason() const { return str("/reason"); }    ///< Status.reason
  [[nodiscard]] std::string message() const { return str("/message"); }  ///< Status.message

  friend void PrintTo(const JsonResponse& response, std::ostream* out) {
    *out << response.status << ' ' << response.text;
  }
};

/// An open watch. The destructor closes it.
class Watch {
 public:
  explicit Watch(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}

  [[nodiscard]] int status() const { return stream_->head().status; }
  /// Blocks until the next event. Returns null if the watch ends or no event arrives within 10 s.
  json NextEvent();
  /// Like NextEvent(), but skips bookmarks.
  json NextNonBookmark();
  /// Returns whether the server ends the watch within 10 s. Skips the events before the end.
  bool WaitForEnd();

 private:
  std::unique_ptr<Stream> stream_;
  std::string buffer_;
};

/// Base fixture of the conformance suite. The suite runs against one of two servers:
///  - kopp's API server, which each test program starts anew: in memory, or over HTTPS if
///    $KOPP_CONFORMANCE_HTTPS is set;
///  - a real kube-apiserver, if $KOPP_CONFORMANCE_KUBECONFIG names a kubeconfig of an
///    administrator.
/// If a check passes on one server and fails on the other, kopp's server is wrong.
///
/// Both authorize by RBAC. All tests of a program share the server. Each test uses its own
/// namespace and unique names.
class ConformanceTest : public ::testing::Test {
 public:
  /// Returns true if the suite runs against a real kube-apiserver. Only tests of the differences
  /// that DIFFERENCES.md lists may call this.
  static bool IsRealServer();

 protected:
  static Transport& ServerTransport();

  static JsonResponse Call(const ApiRequest& request);
  static JsonResponse Get(const std::string& target);
  static JsonResponse Post(const std::string& target, const json& body);
  static JsonResponse Put(const std::string& target, const json& body);
  static JsonResponse MergePatch(const std::string& target, const json& patch);
  static JsonResponse JsonPatch(const std::string& target, const json& operations);
  /// Sends a server-side apply by the field manager `manager`. `extra_query` is appended to the
  /// query ("&force=true").
  static JsonResponse Apply(const std::string& target, const json& object,
                            const std::string& manager, const std::string& extra_query = "");
  static JsonResponse Delete(const std::string& target, const json& options = nullptr);
  static std::unique_ptr<Watch> StartWatch(const std::string& target);

  /// Sends a request over HTTPS as the user that the administrator impersonates.
  static JsonResponse CallAs(const ImpersonationConfig& user, const ApiRequest& request);
  /// Sends a request over HTTPS with a bearer token, optionally with impersonation. An empty token
  /// stands for no credentials.
  static JsonResponse CallWithToken(const std::string& token, const ApiRequest& request,
                                    const ImpersonationConfig& user = {});

  /// Returns `name` with a suffix that is unique among all tests: "NAME-x7k2p4" and a number.
  static std::string UniqueName(const std::string& name);

  /// Returns the name of this test's namespace. The first call creates the namespace.
  const std::string& ns();
  /// Returns the path of a resource collection in this test's namespace:
  /// "/api/v1/namespaces/NS/PLURAL", or
  /// "/apis/GROUP_VERSION/namespaces/NS/PLURAL".
  std::string Path(const std::string& plural) {
    return "/api/v1/namespaces/" + ns() + "/" + plural;
  }
  std::string Path(const std::string& group_version, const std::string& plural) {
    return "/apis/" + group_version + "/namespaces/" + ns() + "/" + plural;
  }
  /// Returns Path("pods"). Also creates the ServiceAccount "default", which a real kube-apiserver
  /// requires for every Pod.
  std::string PodsPath();

 private:
  std::string ns_;
};

/// Repeats `send_request` until its response has `status`, for at most 10 s, and returns the last
/// response. Use it for effects that a real kube-apiserver shows with a delay.
JsonResponse Eventually(int status, const std::function<JsonResponse()>& send_request);

/// Returns the entries of a Status response's details.causes in the server's order, each as
/// "REASON FIELD: MESSAGE".
std::vector<std::string> Causes(const JsonResponse& response);

/// Returns the names of the items of a list response, in its order.
std::vector<std::string> ItemNames(const JsonResponse& list);

/// Returns an object with only a metadata.name, for kinds without required fields.
json MakeObjectWithName(const std::string& name);
// Minimal objects that the server accepts.
json MakeConfigMap(const std::string& name);
json MakeDeployment(const std::string& name);
json MakePod(const std::string& name);

}  // namespace kopp::conformance
