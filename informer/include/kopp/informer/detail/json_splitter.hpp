#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/informer/detail/bracket_scanner.hpp>
#include <kopp/informer/detail/padded_text.hpp>

namespace kopp {

/// Splits a stream of JSON text into objects while its bytes arrive, in chunks of any size.
///
///     splitter.Feed(chunk);
///     while (const auto object = splitter.Next()) Use(object->text);
///
/// It only tracks brackets and strings: it validates neither the content of an object nor the text
/// between the items of a list. An object that lies in one chunk is not copied. It buffers at most
/// one object and, for a list, the envelope (up to 1 MiB). Not thread-safe.
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

  explicit JsonSplitter(Mode mode);

  /// Continues with the next bytes, which must stay valid until Next has returned nullopt. Call it
  /// only then.
  void Feed(std::string_view bytes);

  /// Returns the next object, or nullopt if the bytes contain no further complete object. The
  /// object is valid until the next call of Next or Feed. Throws DecodeError (kMalformed) if the
  /// text is not of the expected form or exceeds a limit. Do not use the splitter after an
  /// exception.
  std::optional<PaddedText> Next();

  /// Returns whether the input so far is complete: no object is unfinished and, with kListItems,
  /// the list has ended. Requires: Next has returned nullopt.
  [[nodiscard]] bool IsComplete() const;

  /// Returns the list response with an empty "items" array: apiVersion, kind, metadata and other
  /// members. Requires: kListItems and IsComplete().
  [[nodiscard]] const std::string& envelope() const { return envelope_; }

 private:
  void OpenBracketAroundObjects(std::size_t position);
  void CloseBracketAroundObjects(std::size_t position);
  PaddedText EndObject(std::size_t end);
  void EndRun(std::size_t end);
  void AppendToObject(std::string_view run);
  void ReleaseObject();
  [[noreturn]] void ThrowUnexpected(char found) const;
  [[nodiscard]] bool InObject() const { return depth_ > depth_around_objects_; }

  Mode mode_;
  detail::BracketScanner scanner_;
  std::string_view chunk_;
  std::size_t run_start_ = 0;  // index in the chunk of the first byte that is not handled yet
  int depth_ = 0;              // the number of open brackets
  // The number of brackets around each object; more than kMaxDepth outside "items".
  int depth_around_objects_;
  bool list_closed_ = false;      // kListItems: the list has ended
  bool object_returned_ = false;  // object_ was returned by Next
  std::string object_;  // the current object, if it began in an earlier chunk; reserves the padding
  std::string envelope_;
};

}  // namespace kopp
