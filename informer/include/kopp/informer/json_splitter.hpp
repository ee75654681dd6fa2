#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kopp {

/// Cuts a stream of JSON text into objects as its bytes arrive, in whatever pieces.
///
/// It looks at brackets and strings alone: what is inside an object is for the decoder to judge.
/// Holds the bytes of one object at the most. Used by one thread.
class JsonSplitter {
 public:
  enum class Of {
    kDocuments,  ///< objects one after the other: the frames of a watch
    kItems,      ///< the elements of "items" in one object: a list, whose other members are kept
  };
  static constexpr std::size_t kMaxObject = 64U << 20U;  ///< bytes
  static constexpr int kMaxDepth = 512;

  /// `each` gets an object's text, valid during the call.
  JsonSplitter(Of of, std::function<void(std::string_view object)> each);

  /// Takes the next bytes. Throws DecodeError (malformed) for text that cannot be cut, and what
  /// `each` throws; the splitter is of no use after that.
  void Feed(std::string_view bytes);

  /// Whether all that was fed is cut: nothing is left of an object, and a list is closed.
  [[nodiscard]] bool AtEnd() const;

  /// kItems, once AtEnd: the list's own members as an object, its "items" empty.
  [[nodiscard]] const std::string& envelope() const { return envelope_; }

 private:
  std::size_t PassString(std::string_view bytes, std::size_t at);
  void Open(std::string_view bytes, std::size_t at);
  void Close(std::string_view bytes, std::size_t at);
  void Flush(std::string_view run);
  [[nodiscard]] bool InObject() const {
    return of_ == Of::kDocuments ? !brackets_.empty() : in_items_ && brackets_.size() > 2;
  }

  Of of_;
  std::function<void(std::string_view)> each_;
  std::string brackets_;  // those open, outermost first
  bool in_string_ = false;
  bool escaped_ = false;   // the last character was a backslash in a string
  bool in_items_ = false;  // kItems: inside "items"
  bool closed_ = false;    // kItems: the list has ended
  std::size_t run_ = 0;    // where in the bytes being fed the current run starts: of an object's
                           // text, or of text between objects
  std::string key_;        // kItems: the last string among the list's own members
  std::string object_;     // what earlier bytes held of the current object
  std::string envelope_;
};

}  // namespace kopp
