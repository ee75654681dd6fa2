#pragma once

#include <string_view>
#include <utility>

#include <kopp/informer/object.hpp>
#include <kopp/informer/object_key.hpp>

namespace kopp {

/// Checks the objects that a Client creates, updates or applies, and its patches except JSON
/// patches, before it sends them.
class WriteCheck {
 public:
  virtual ~WriteCheck() = default;
  WriteCheck(const WriteCheck&) = delete;
  WriteCheck& operator=(const WriteCheck&) = delete;

  /// `object` is the JSON text that will be sent. Throws an exception to prevent the write.
  virtual void BeforeWrite(const Kind& kind, const ObjectKey& key, std::string_view object) = 0;

 protected:
  WriteCheck() = default;
};

/// While it exists, the writes of clients on this thread are checked. Scopes may be nested; the
/// innermost applies.
class WriteScope {
 public:
  /// `check` must outlive the scope.
  explicit WriteScope(WriteCheck& check) : outer_(std::exchange(current, &check)) {}
  ~WriteScope() { current = outer_; }
  WriteScope(const WriteScope&) = delete;
  WriteScope& operator=(const WriteScope&) = delete;

  /// Calls the check of this thread; without a scope it does nothing.
  static void BeforeWrite(const Kind& kind, const ObjectKey& key, std::string_view object) {
    if (current != nullptr) current->BeforeWrite(kind, key, object);
  }

 private:
  inline static thread_local WriteCheck* current = nullptr;
  WriteCheck* outer_;
};

}  // namespace kopp
