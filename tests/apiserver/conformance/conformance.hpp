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

#include <kopp/transport.hpp>

namespace kopp::conformance {

using namespace std::chrono_literals;
using nlohmann::json;

/// What came back, read. A failure of an expectation on it prints it whole.
struct Answer {
  int status = 0;
  json body{};  ///< null where it is no JSON
  std::string text{};
  std::vector<std::string> warnings{};
  std::optional<Duration> retry_after{};

  /// What `pointer` ("/metadata/name") leads to; null where there is nothing.
  [[nodiscard]] json at(const std::string& pointer) const;
  [[nodiscard]] std::string str(const std::string& pointer) const;  ///< "" where there is nothing
  [[nodiscard]] std::string name() const { return str("/metadata/name"); }
  [[nodiscard]] std::string version() const { return str("/metadata/resourceVersion"); }
  [[nodiscard]] std::string reason() const { return str("/reason"); }  ///< of a Status
  [[nodiscard]] std::string message() const { return str("/message"); }

  friend void PrintTo(const Answer& answer, std::ostream* out) {
    *out << answer.status << ' ' << answer.text;
  }
};

/// A watch that goes on until it is destroyed.
class Watch {
 public:
  explicit Watch(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}

  [[nodiscard]] int status() const { return stream_->head().status; }
  /// The next event, or null where the watch ends or 10 s bring none.
  json Next();
  /// The next event that is no bookmark.
  json NextChange();
  /// Whether the server ends the watch within 10 s; events before that are passed over.
  bool Ends();

 private:
  std::unique_ptr<Stream> stream_;
  std::string input_;
};

/// One suite for two servers: kopp's own in memory, a new one for each test program (over a socket
/// where $KOPP_CONFORMANCE_HTTPS is set), or the one that $KOPP_CONFORMANCE_KUBECONFIG names, as an
/// administrator. A check that passes on the one and fails on the other shows a difference, and
/// then kopp's is wrong.
///
/// Tests share the server with others that went before: each has a namespace and names of its own.
class ConformanceTest : public ::testing::Test {
 public:
  /// A real kube-apiserver answers. Only what DIFFERENCES.md lists may ask.
  static bool IsReal();

 protected:
  static Transport& Server();

  static Answer Call(const Request& request);
  static Answer Get(const std::string& target);
  static Answer Post(const std::string& target, const json& body);
  static Answer Put(const std::string& target, const json& body);
  static Answer MergePatch(const std::string& target, const json& patch);
  static Answer JsonPatch(const std::string& target, const json& operations);
  /// Server-side apply by `manager`; `more` is added to the query ("&force=true").
  static Answer Apply(const std::string& target, const json& object, const std::string& manager,
                      const std::string& more = "");
  static Answer Delete(const std::string& target, const json& options = nullptr);
  static std::unique_ptr<Watch> StartWatch(const std::string& target);

  /// A name that no other test has: "NAME-x7k2p".
  static std::string Unique(const std::string& name);

  /// A namespace of this test's own.
  const std::string& ns();
  /// "/api/v1/namespaces/NS/PLURAL", and "/apis/GROUP_VERSION/namespaces/NS/PLURAL".
  std::string Path(const std::string& plural) {
    return "/api/v1/namespaces/" + ns() + "/" + plural;
  }
  std::string Path(const std::string& group_version, const std::string& plural) {
    return "/apis/" + group_version + "/namespaces/" + ns() + "/" + plural;
  }
  /// Path("pods"), with the ServiceAccount there that every Pod asks for.
  std::string Pods();

 private:
  std::string ns_;
};

/// Makes `ask` until its answer has `status`, for 10 s: for what the real server does a little
/// later.
Answer Eventually(int status, const std::function<Answer()>& ask);

/// What a 422 finds wrong, "REASON FIELD: MESSAGE" each, in the server's order.
std::vector<std::string> Causes(const Answer& answer);

/// The names of a list's items, in its order.
std::vector<std::string> Names(const Answer& list);

/// The least that the server takes.
json AConfigMap(const std::string& name);
json ADeployment(const std::string& name);
json APod(const std::string& name);

}  // namespace kopp::conformance
