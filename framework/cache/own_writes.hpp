#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <kopp/informer/informer.hpp>
#include <kopp/read_your_writes.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// The writes of this program that an informer has not received yet. Reads of its store wait for
/// them.
///
/// A write is forgotten when the informer has received it, or when etcd was restored from a backup.
/// The response to a deletion has no version. If the store has never had the object, the deletion
/// is kept for a while, because the creation may still arrive.
///
/// Thread-safe.
class OwnWrites {
 public:
  /// `kind` is for errors. `informer` and `clock` must outlive the object.
  OwnWrites(std::string kind, const informer::AnyInformer& informer, Clock& clock)
      : kind_(std::move(kind)), informer_(informer), clock_(clock) {}

  /// Adds a write. `selected` is whether the informer watches objects with these labels; otherwise
  /// the object may be missing in the store. nullopt: as at the write before, or in the store.
  void Record(const WrittenObject& object, std::optional<bool> selected);

  /// Blocks until the store has the write of `key`. Throws StaleCacheError after `timeout` or a
  /// stop request.
  void Await(const ObjectKey& key, Duration timeout, const std::stop_token& stop);
  /// The same for all objects of the namespace `ns`, or of all namespaces if it is empty.
  void AwaitAll(std::string_view ns, Duration timeout, const std::stop_token& stop);

  /// Returns the last write of `key` that the store may not have yet. Forgets a write that the
  /// store has had: another client may have changed or deleted the object since.
  [[nodiscard]] std::optional<WrittenObject> Find(const ObjectKey& key);

  /// Returns the number of writes that may be missing in the store.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Write {
    WrittenObject object;
    bool selected = true;
    bool was_in_store = false;   // in any version, with this uid
    std::uint64_t restores = 0;  // StoreVersion::restores at the time of the write
    TimePoint time{};
  };
  struct Writes {
    std::unordered_map<ObjectKey, Write> by_key = {};
    std::size_t sweep_at = 64;  // the size at which settled writes are removed
  };

  [[nodiscard]] std::vector<Write> LastWrite(const ObjectKey& key);
  [[nodiscard]] bool IsVisible(const Write& write) const;
  [[nodiscard]] bool IsSettled(const Write& write) const;
  void AwaitVisible(const std::vector<Write>& writes, Duration timeout,
                    const std::stop_token& stop) const;
  void ForgetSettled(const std::vector<Write>& writes);
  [[nodiscard]] StaleCacheError ErrorFor(const Write& write, Duration timeout,
                                         const std::stop_token& stop) const;

  const std::string kind_;
  const informer::AnyInformer& informer_;
  Clock& clock_;
  detail::Guarded<Writes> writes_;
  std::atomic<std::size_t> size_{0};  // of by_key, so that most reads need no lock
};

}  // namespace kopp
