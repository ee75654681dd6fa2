#include <bit>
#include <utility>

#include <kopp/informer/decode_error.hpp>
#include <kopp/informer/detail/json_splitter.hpp>

namespace kopp {
namespace {

constexpr std::size_t kMaxEnvelopeBytes = 1U << 20U;
// The buffer of a larger object is freed after its use.
constexpr std::size_t kMaxKeptBytes = 1U << 20U;
constexpr std::string_view kJsonWhitespace = " \t\r\n";
// A nesting depth that is never reached outside of objects.
constexpr int kOutsideItems = JsonSplitter::kMaxDepth + 1;

std::string MebibytesText(std::size_t bytes) { return std::to_string(bytes >> 20U) + " MiB"; }

[[noreturn]] void ThrowMalformed(const std::string& problem) {
  throw DecodeError(DecodeError::Kind::kMalformed, "", problem);
}

/// Returns `c` in single quotes, or its code if it is not printable ASCII.
std::string DescribeByte(char c) {
  if (c > ' ' && c < '\x7f') return std::string("'") + c + "'";
  return "a byte with the value " + std::to_string(static_cast<unsigned char>(c));
}

bool IsOpening(char bracket) { return bracket == '{' || bracket == '['; }

std::string_view TrimmedAtEnd(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kJsonWhitespace) + 1);  // npos + 1 is 0
}

/// Returns whether `text` ends with the key "items" and a colon.
bool EndsWithItemsKey(std::string_view text) {
  constexpr std::string_view kKey = "\"items\"";
  text = TrimmedAtEnd(text);
  if (!text.ends_with(':')) return false;
  text = TrimmedAtEnd(text.substr(0, text.size() - 1));
  if (!text.ends_with(kKey)) return false;
  text.remove_suffix(kKey.size());
  return !text.ends_with('\\');  // the quote is part of another key
}

}  // namespace

JsonSplitter::JsonSplitter(Mode mode)
    : mode_(mode), depth_around_objects_(mode == Mode::kDocuments ? 0 : kOutsideItems) {}

bool JsonSplitter::IsComplete() const {
  return depth_ == 0 && (mode_ == Mode::kDocuments || list_closed_);
}

void JsonSplitter::Feed(std::string_view bytes) {
  ReleaseObject();
  chunk_ = bytes;
  run_start_ = 0;
  scanner_.Start(bytes);
}

std::optional<PaddedText> JsonSplitter::Next() {
  ReleaseObject();
  for (auto position = scanner_.Next(); position < chunk_.size(); position = scanner_.Next()) {
    const bool opens = IsOpening(chunk_[position]);
    if (opens && depth_ == kMaxDepth) {
      ThrowMalformed("JSON is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    if (InObject()) {
      depth_ += opens ? 1 : -1;
      if (!InObject()) return EndObject(position + 1);
    } else if (opens) {
      OpenBracketAroundObjects(position);
    } else {
      CloseBracketAroundObjects(position);
    }
  }
  EndRun(chunk_.size());
  return std::nullopt;
}

/// Handles a bracket that opens an object or a part of the list around the objects.
void JsonSplitter::OpenBracketAroundObjects(std::size_t position) {
  const char bracket = chunk_[position];
  EndRun(position);
  if (depth_ == 0 && (bracket != '{' || list_closed_)) ThrowUnexpected(bracket);
  if (mode_ == Mode::kListItems && depth_ == depth_around_objects_ && bracket != '{') {
    ThrowMalformed("expected an object in \"items\", found a list");
  }
  ++depth_;
  if (mode_ == Mode::kListItems && depth_ == 2 && bracket == '[' && EndsWithItemsKey(envelope_)) {
    EndRun(position + 1);
    depth_around_objects_ = depth_;
  }
}

/// Handles a bracket that closes the list or a part of it. Brackets inside the members of the list
/// are not matched: a parser reads them later.
void JsonSplitter::CloseBracketAroundObjects(std::size_t position) {
  const char bracket = chunk_[position];
  const bool closes_items = depth_ == depth_around_objects_;
  if (depth_ == 0 || (closes_items && bracket != ']') || (depth_ == 1 && bracket != '}')) {
    ThrowMalformed("unexpected " + DescribeByte(bracket));
  }
  if (closes_items) {
    EndRun(position);  // discards the text after the last item
    depth_around_objects_ = kOutsideItems;
  }
  EndRun(position + 1);
  --depth_;
  list_closed_ = depth_ == 0;
}

/// Returns the current object, which ends before the index `end` of the chunk.
PaddedText JsonSplitter::EndObject(std::size_t end) {
  if (chunk_[end - 1] != '}') ThrowMalformed("unexpected " + DescribeByte(chunk_[end - 1]));
  const std::string_view rest = chunk_.substr(run_start_, end - run_start_);
  run_start_ = end;
  if (object_.empty() && chunk_.size() - end >= PaddedText::kPadding) return {rest};
  AppendToObject(rest);
  object_returned_ = true;
  return {object_};
}

/// Handles the bytes of the chunk up to the index `end`. They belong to the current object or to
/// the envelope. At the top level, throws for anything but white space. Between the items of a
/// list, discards the bytes without checking them.
void JsonSplitter::EndRun(std::size_t end) {
  const std::string_view run = chunk_.substr(run_start_, end - run_start_);
  run_start_ = end;
  if (InObject()) {
    AppendToObject(run);
  } else if (depth_ == 0) {
    const auto unexpected = run.find_first_not_of(kJsonWhitespace);
    if (unexpected != std::string_view::npos) ThrowUnexpected(run[unexpected]);
  } else if (depth_ != depth_around_objects_) {
    if (envelope_.size() + run.size() > kMaxEnvelopeBytes) {
      ThrowMalformed("the members of a list other than \"items\" are larger than " +
                     MebibytesText(kMaxEnvelopeBytes));
    }
    envelope_ += run;
  }
}

/// The buffer of a large object has the maximum size from the start: growing step by step would
/// hold two copies at a time, while reserved memory that is not used costs nothing.
void JsonSplitter::AppendToObject(std::string_view run) {
  const std::size_t size = object_.size() + run.size();
  if (size > kMaxObjectBytes) {
    ThrowMalformed("an object is larger than " + MebibytesText(kMaxObjectBytes));
  }
  if (size + PaddedText::kPadding > object_.capacity()) {
    const std::size_t room = size <= kMaxKeptBytes ? std::bit_ceil(size) : kMaxObjectBytes;
    object_.reserve(room + PaddedText::kPadding);
  }
  object_ += run;
}

/// Forgets the object that Next has returned.
void JsonSplitter::ReleaseObject() {
  if (!std::exchange(object_returned_, false)) return;
  if (object_.capacity() > 2 * kMaxKeptBytes) {
    std::string().swap(object_);
  } else {
    object_.clear();
  }
}

/// Throws for a character at the top level that does not begin an object.
void JsonSplitter::ThrowUnexpected(char found) const {
  ThrowMalformed((list_closed_ ? "expected the end of the list response, found "
                               : "expected a JSON object, found ") +
                 DescribeByte(found));
}

}  // namespace kopp
