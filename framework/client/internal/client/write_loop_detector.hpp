#pragma once

#include "client/lru_map.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/informer/object.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::detail {

/// Fields of one object that writes of this program change back and forth.
struct WriteLoop {
  OwningKind kind;  ///< without the plural
  ObjectKey key;
  std::string uid;
  std::vector<std::string> fields;     ///< such as "status.conditions[type=Ready].status"
  std::array<std::string, 2> writers;  ///< field managers; equal if there is one writer

  /// Return lists for people, separated by commas.
  [[nodiscard]] std::string FieldList() const;
  [[nodiscard]] std::string WriterList() const;
};

/// Finds write loops in the responses to writes. Thread-safe.
///
/// An object that is written more than kUnsuspicious times in kWindow is suspicious: the next
/// kMaxChecked responses are parsed. There is a loop if kMinReturns of them in turn give a field
/// the value back that it had before the last write. Only hashes of the values are kept, of the
/// kMaxHistories objects that were checked last.
class WriteLoopDetector {
 public:
  static constexpr Duration kWindow = std::chrono::minutes(1);
  static constexpr Duration kReportInterval = std::chrono::minutes(10);  // for one object
  static constexpr int kUnsuspicious = 5;
  static constexpr int kMaxChecked = 30;
  static constexpr int kMinReturns = 4;
  static constexpr std::size_t kMaxObjects = 1000;  // the others were not written for longer
  static constexpr std::size_t kMaxHistories = 50;

  explicit WriteLoopDetector(Clock& clock) : clock_(clock) {}

  /// Returns the loop that this write completes, once in kReportInterval for an object. `target` is
  /// that of the request, `response` the written object.
  std::optional<WriteLoop> OnWrite(std::string_view target, std::string_view response);

 private:
  using Hashes = std::map<std::string, std::size_t>;  // of the value of each field
  struct State {
    std::string writer;
    Hashes fields;
  };
  /// The writes of one object.
  struct Writes {
    TimePoint since;
    TimePoint not_before = TimePoint::min();  // of the next report
    int count = 0;
  };
  /// The responses of one object that were checked.
  struct History {
    TimePoint since;                          // as Writes::since
    std::vector<State> states = {};           // the last two that differ
    std::map<std::string, int> returns = {};  // how often a field got its former value back
  };
  struct Objects {
    LruMap<std::size_t, Writes> writes{kMaxObjects};  // by the hash of the path
    LruMap<std::size_t, History> histories{kMaxHistories};
  };

  bool Count(std::size_t object);
  bool Add(std::size_t object, State state, WriteLoop& loop);

  Clock& clock_;
  Guarded<Objects> objects_;
};

/// Returns a transport that calls `on_loop` for each write loop, on the thread of the write.
/// `on_loop` must be thread-safe and must not throw.
[[nodiscard]] std::shared_ptr<Transport> WithWriteLoopDetection(
    std::shared_ptr<Transport> transport, Clock& clock,
    std::function<void(const WriteLoop&)> on_loop);

}  // namespace kopp::detail
