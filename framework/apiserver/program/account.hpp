#pragma once

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// An object, as a command line names it.
struct Named {
  std::string resource{};  ///< "deployments"
  std::string ns{};
  std::string name{};
};

/// What happens on a server, told from its audit log as it is written: a line of at most 80 columns
/// for each write, for what was refused, and for who begins to watch what. Other reads are left
/// out, and so is the renewing of leases. Safe to use from any thread.
class Account {
 public:
  struct Options {
    std::string program{};  ///< the user whose doings stand out
    bool colours = false;
  };

  /// `out` outlives it.
  Account(std::ostream& out, Options options);

  void Begin();  ///< the table's head; nothing is told before
  void Tell(std::string_view entry);
  void Say(std::string_view text);  ///< something else, between two lines

  /// Whether what is told can still be read: not when the other end of a pipe is gone.
  [[nodiscard]] bool is_heard() const;
  /// What the program was seen to watch, in that order: "deployments".
  [[nodiscard]] std::vector<std::string> watched() const;
  /// The first object that it has made, but for Events and leases.
  [[nodiscard]] std::optional<Named> made() const;
  /// When it last did or watched something.
  [[nodiscard]] TimePoint active() const;

 private:
  struct State {
    bool begun = false;
    TimePoint begin{};
    TimePoint active{};
    std::vector<std::string> watched;  // each once
    std::optional<Named> made;
  };
  void Note(State& state, const nlohmann::json& entry) const;
  [[nodiscard]] std::string_view Colour(const nlohmann::json& entry) const;

  std::ostream& out_;
  Options options_;
  mutable Guarded<State> state_;  // and the stream: lines do not mix
};

/// The line of one entry, without its first column and its end; "" where it has none. `width`: of
/// all of it.
[[nodiscard]] std::string AccountLine(const nlohmann::json& entry, std::size_t width);

}  // namespace kopp::apiserver
