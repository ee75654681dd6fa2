#pragma once

#include <memory>

namespace kopp::workqueue {

/// Data about an Add, for example why the item was added. The queue keeps the note of an item until
/// its next Get, which returns it; the notes of several Adds are merged. Without memory it is lost.
/// A delayed add keeps its note while it waits. The queue does not interpret notes.
///
/// The queue calls the functions while it holds its lock: they must not block and must not call the
/// queue. All notes of one queue must be of one class.
class Note {
 public:
  virtual ~Note() = default;
  Note& operator=(const Note&) = delete;

  /// Adds the content of the note of a later Add of the same item. May move from `later`.
  virtual void Merge(Note& later) noexcept = 0;
  /// Returns a copy, for a Snapshot.
  [[nodiscard]] virtual std::unique_ptr<Note> Clone() const = 0;

 protected:
  Note() = default;
  Note(const Note&) = default;
};

}  // namespace kopp::workqueue
