#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp::informer {

/// The state of a handler at one time. Counts are since it was added.
struct HandlerStatus {
  std::string name = {};
  bool synced = false;          ///< see HandlerRegistration::HasSynced
  std::size_t queue_depth = 0;  ///< the number of objects with pending events
  bool busy = false;            ///< the handler is being called
  Duration busy_for{};          ///< the time since this call began
  std::uint64_t calls = 0;
  std::uint64_t errors = 0;  ///< calls that threw
};

/// The state of an informer at one time. Counts are since its construction.
struct InformerStatus {
  std::string name = {};  ///< InformerOptions::name
  std::string kind = {};  ///< InformerOptions::kind
  bool synced = false;
  std::size_t objects = 0;  ///< in the store

  /// The version up to which all changes were applied; empty before the first list.
  std::string resource_version = {};
  /// The time since the last list, event or bookmark; 0 before the first list.
  Duration resource_version_age{};

  std::uint64_t lists = 0;            ///< complete lists; all but the first are relists
  std::uint64_t skipped_objects = 0;  ///< objects of lists and events that could not be applied
  std::uint64_t drifted_objects = 0;  ///< that audits found to differ from the server
  std::map<std::string_view, std::uint64_t> events = {};      ///< by type: "added", …
  std::map<std::string_view, std::uint64_t> watch_ends = {};  ///< by reason: see Sink::OnWatchEnd

  std::uint64_t errors = 0;      ///< failed lists and watches
  int consecutive_failures = 0;  ///< since the last list, event or bookmark
  std::string last_error = {};   ///< the text of the last failure; empty: none

  std::vector<HandlerStatus> handlers = {};
};

}  // namespace kopp::informer
