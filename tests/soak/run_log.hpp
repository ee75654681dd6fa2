#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <string>
#include <vector>

#include <kopp/informer/object_key.hpp>

namespace kopp::soak {

// The two logs of a soak run, as the checker reads them. Both are JSON lines. An object is an array
// ["namespace", "name", "uid", "resourceVersion"]. This code shares nothing with the informer.

/// An object in one version.
struct ObjectVersion {
  ObjectKey key = {};
  std::string uid = {};
  std::uint64_t version = 0;
  friend bool operator==(const ObjectVersion&, const ObjectVersion&) = default;

  [[nodiscard]] std::string ToString() const;
};

/// The objects of a kind at one moment.
using Objects = std::map<ObjectKey, ObjectVersion>;

/// A change of an object, as a watch reports it.
struct Change {
  std::string type = {};  ///< "ADDED", "MODIFIED" or "DELETED"
  ObjectVersion object = {};
  friend bool operator==(const Change&, const Change&) = default;

  [[nodiscard]] std::string ToString() const { return type + ' ' + object.ToString(); }
};

/// Applies `change` to `objects`.
void Apply(const Change& change, Objects& objects);

/// What the API server stored, recorded by a watch without faults, and the writes that caused it,
/// recorded by the program that made them:
///
///     {"initial": [object, …], "version": "5"}
///     {"type": "ADDED", "object": object}        one line for each change, in order
///     {"write": "ADDED", "object": object}       one line for each write, in order
///     {"final": [object, …]}                     a list after the last change
struct Truth {
  Objects initial = {};
  std::uint64_t initial_version = 0;
  std::vector<Change> changes = {};
  std::vector<Change> writes = {};  ///< the version of a "DELETED" is that of the write before
  Objects final = {};

  /// Returns the index of the first change after `version`.
  [[nodiscard]] std::size_t FirstAfter(std::uint64_t version) const;
};

/// A line of the log of an informer.
struct CacheLogLine {
  std::size_t number = 0;     ///< in the file, from 1
  std::string informer = {};  ///< the name of the informer
  /// "list":     a list response at `version` with `objects`
  /// "watch":    a watch request from `version`
  /// "event":    an event of the watch: `change`
  /// "bookmark": a bookmark of the watch at `version`
  /// "added":    `handler` was added
  /// "handler":  a call of `handler`: `change`, of type "add", "update" or "delete"
  /// "synced":   HasSynced of `handler` became true
  /// "snapshot": a read of the whole store: `objects`
  /// "final":    the last such read, after the churn and the faults have ended
  /// "stopped":  the informer was destroyed; its last line
  std::string entry = {};
  std::string handler = {};  ///< the name of the handler, unique in the informer
  std::uint64_t version = 0;
  Change change = {};
  std::vector<ObjectVersion> objects = {};
};

/// Reads a log of the API server. Throws std::runtime_error with the number of a malformed line.
[[nodiscard]] Truth ReadTruth(std::istream& in);
/// Reads a log of informers line by line, so that its size is not limited by the memory, and calls
/// `visit` for each line. Throws std::runtime_error with the number of a malformed line.
void ForEachCacheLogLine(std::istream& in, const std::function<void(const CacheLogLine&)>& visit);

}  // namespace kopp::soak
