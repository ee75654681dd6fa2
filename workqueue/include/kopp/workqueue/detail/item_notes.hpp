#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <kopp/workqueue/detail/item_table.hpp>
#include <kopp/workqueue/note.hpp>

namespace kopp::workqueue::detail {

/// The notes of items, which are identified by their handles. Uses no memory until the first note.
/// Not thread-safe.
class ItemNotes {
 public:
  /// Adds `note` to the notes of the item. A null note has no effect. Without memory the note is
  /// dropped: it is only for diagnosis.
  void Add(Handle handle, std::unique_ptr<Note> note) noexcept {
    if (!note) return;
    if (notes_.size() <= handle && !Grow(handle + std::size_t{1})) return;
    auto& existing = notes_[handle];
    if (existing) {
      existing->Merge(*note);
    } else {
      existing = std::move(note);
    }
  }

  /// Removes and returns the note of the item; null if it has none.
  [[nodiscard]] std::unique_ptr<Note> Take(Handle handle) noexcept {
    return handle < notes_.size() ? std::move(notes_[handle]) : nullptr;
  }
  /// Returns a copy of the note of the item; null if it has none.
  [[nodiscard]] std::unique_ptr<Note> Copy(Handle handle) const {
    return handle < notes_.size() && notes_[handle] ? notes_[handle]->Clone() : nullptr;
  }

  /// Removes all notes, and frees memory if the capacity is large.
  void Clear() { ClearAndShrink(notes_); }

 private:
  bool Grow(std::size_t size) noexcept {
    try {
      notes_.resize(size);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  std::vector<std::unique_ptr<Note>> notes_;  // indexed by handle
};

}  // namespace kopp::workqueue::detail
