#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kopp {

/// Splits a stream of JSON text into objects while its bytes arrive, in chunks of any size.
///
/// It only tracks brackets and strings: it validates neither the content of an object nor the text
/// between the items of a list. It buffers at most one object and, for a list, the envelope (up to
/// 1 MiB). Not thread-safe.
class JsonSplitter {
 public:
  /// The form of the text.
  enum class Mode {
    kDocuments,  ///< a sequence of objects: the frames of a watch response
    kListItems,  ///< one list response: the elements of "items"; see envelope()
  };
  static constexpr std::size_t kMaxObjectBytes = 64U << 20U;  ///< limit for one buffered object
  /// Limit of nested brackets: the API server accepts custom resources up to this depth.
  static constexpr int kMaxDepth = 10'000;

  /// `on_object` is called by Feed with the text of each object; the text is valid during the call.
  JsonSplitter(Mode mode, std::function<void(std::string_view object)> on_object);

  /// Processes the next bytes. Throws DecodeError (kMalformed) if the text is not of the expected
  /// form or exceeds a limit; exceptions of `on_object` pass through. Do not use the splitter after
  /// an exception.
  void Feed(std::string_view bytes);

  /// Returns whether the input so far is complete: no object is unfinished and, with kListItems,
  /// the list has ended.
  [[nodiscard]] bool IsComplete() const;

  /// Returns the list response with an empty "items" array: apiVersion, kind, metadata and other
  /// members. Requires: kListItems and IsComplete().
  [[nodiscard]] const std::string& envelope() const { return envelope_; }

 private:
  std::size_t SkipString(std::string_view bytes, std::size_t position);
  void OpenBracket(std::string_view bytes, std::size_t position);
  void CloseBracket(std::string_view bytes, std::size_t position);
  void AppendRun(std::string_view run);
  [[noreturn]] void ThrowUnexpected(char found) const;
  [[nodiscard]] bool InObject() const {
    return mode_ == Mode::kDocuments ? !brackets_.empty() : in_items_ && brackets_.size() > 2;
  }

  Mode mode_;
  std::function<void(std::string_view)> on_object_;
  std::string brackets_;  // the open brackets, outermost first
  bool in_string_ = false;
  bool escaped_ = false;      // the last character was a backslash in a string
  bool in_items_ = false;     // kListItems: inside "items"
  bool list_closed_ = false;  // kListItems: the list has ended
  // Index in the current chunk of the first byte that is not in a buffer or passed on yet.
  std::size_t run_start_ = 0;
  std::string last_string_;     // kListItems: the last string at the top level of the list
  std::string partial_object_;  // the bytes of the current object from earlier chunks
  std::string envelope_;
};

}  // namespace kopp
