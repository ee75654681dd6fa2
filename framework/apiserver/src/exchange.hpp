#pragma once

#include "target.hpp"
#include "utf8.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp::apiserver {

/// On whose behalf something is asked.
struct User {
  std::string name{};
  std::vector<std::string> groups{};
};

/// A request as it reached the server, by HTTP or without.
struct Ask {
  std::string method{};
  Target target{};
  std::string body{};
  std::string content_type{};
  std::string accept{};
  std::string user_agent{};
  std::string audit_id{};  ///< what the audit log is to know it by; empty: that is left to it
  User user{};

  /// What the writes of clients that do not say it are owned as: "kubectl" of "kubectl/v1.34".
  [[nodiscard]] std::string manager() const {
    std::string given = target.query.Get("fieldManager");
    if (!given.empty()) return given;
    const std::string program = user_agent.substr(0, user_agent.find('/'));
    return program.empty() ? "unknown" : AsUtf8(program);
  }
};

/// The body of a watch, as it comes to be. Used by one thread at a time.
class Feed {
 public:
  virtual ~Feed() = default;
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// The frames that are ready, each with its line's end; none: nothing has happened yet.
  virtual std::string Take() = 0;
  /// Nothing more will come.
  [[nodiscard]] virtual bool ended() const = 0;
  /// Once it has ended: not in order, so the connection is to be cut.
  [[nodiscard]] virtual bool broken() const { return false; }
  /// When Take has something to say though nothing happened.
  [[nodiscard]] virtual TimePoint next() const = 0;
  /// A change of which resource may give it something to say.
  [[nodiscard]] virtual const std::string& resource() const = 0;

 protected:
  Feed() = default;
};

/// What befalls a reply on its way to who asked.
struct Mishap {
  Duration delay{};                        ///< before its first byte
  bool reset = false;                      ///< the connection is cut instead
  bool refused = false;                    ///< beside `reset`: where it can be, none is made
  std::optional<std::size_t> cut_after{};  ///< bytes of the body, those of a feed included
};

/// For the client's user, beside whatever the answer is.
using Warnings = std::vector<std::string>;

struct Reply {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
  Warnings warnings{};
  std::optional<int> retry_after{};  ///< seconds
  std::unique_ptr<Feed> feed{};      ///< of a watch: what the body goes on with
  Mishap mishap{};
};

/// Who answers: the API, or one who stands before it.
class Answerer {
 public:
  /// Never throws: what goes wrong is a Status. Safe to call from any thread.
  virtual Reply Answer(const Ask& ask) = 0;

 protected:
  Answerer() = default;
  ~Answerer() = default;
  Answerer(const Answerer&) = default;
  Answerer& operator=(const Answerer&) = default;
};

}  // namespace kopp::apiserver
