#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/testing/scripted_transport.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// A write of the recorded operator that the API server has accepted.
struct RecordedWrite {
  std::string group{};
  std::string plural{};
  std::string ns{};
  std::string name{};
  std::string uid{};
  std::string version{};  ///< the resourceVersion; "" for a deletion
};

/// Returns the write of the entry of a call, or nullopt if it has written no object.
[[nodiscard]] std::optional<RecordedWrite> WriteOf(const nlohmann::json& entry);

/// The objects that an operator had read by lists and watches, up to an entry of its recording.
class RecordedObjects {
 public:
  /// Applies an entry about a stream: its start or bytes. Events that Await has applied have no
  /// effect.
  void Apply(const nlohmann::json& entry);

  /// Returns a list with the current objects. `target` is the request of an informer; its list or
  /// watch was recorded with the same path, selectors and form. Returns null if there is none, or
  /// it is not complete.
  [[nodiscard]] nlohmann::json List(const ApiRequest& request) const;

  /// Returns whether each collection of the written kind has the write.
  [[nodiscard]] bool Has(const RecordedWrite& write) const;
  /// Lets the collections of the written kind receive it, as if a read had waited for it: applies
  /// what they get in `following` entries, up to the write. Has no effect on a collection that does
  /// not receive the write, for example because it selects other objects.
  void Await(const RecordedWrite& write, std::span<const nlohmann::json> following);

  /// Returns the paths of all lists, for error messages.
  [[nodiscard]] std::vector<std::string> Paths() const;

 private:
  using Objects = std::map<std::string, nlohmann::json>;  // by namespace and name

  /// The objects of one list or watch.
  struct Collection {
    std::string path{};
    nlohmann::json head{};  // apiVersion and kind of the list
    std::string version{};  // the newest resourceVersion that was read
    bool is_listed = false;
    Objects objects{};
    Objects next{};  // of a list or of initial events that are not complete
  };
  struct OpenStream {
    std::string collection{};
    bool is_watch = false;
    bool is_first_page = true;
    bool sends_initial_events = false;  // until their end
    std::string bytes{};                // that are not processed yet
  };

  static void Store(Objects& objects, nlohmann::json object);
  static void CompleteList(Collection& collection);
  void ApplyList(OpenStream& stream);
  void ApplyEvents(OpenStream& stream);
  void ApplyEvent(OpenStream& stream, nlohmann::json event);
  static bool Has(const Collection& collection, const RecordedWrite& write);

  std::map<std::string, Collection> collections_;
  std::map<std::uint64_t, OpenStream> streams_;
};

/// Serves RecordedObjects to a cache. Watches stay silent. Thread-safe while the objects do not
/// change.
class RecordedListTransport final : public Transport {
 public:
  /// The arguments must outlive the transport.
  RecordedListTransport(const RecordedObjects& objects, Clock& clock)
      : objects_(objects), responses_(clock) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override;
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override;

  /// Returns the requests for which there is no recorded list.
  [[nodiscard]] std::set<std::string> Missing() { return *missing_.Lock(); }

 private:
  ApiResponse ListResponse(const ApiRequest& request);

  const RecordedObjects& objects_;
  testing::ScriptedTransport responses_;
  detail::Guarded<std::set<std::string>> missing_;
};

}  // namespace kopp::apiserver
