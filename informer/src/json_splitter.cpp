#include <utility>

#include <kopp/informer/fields.hpp>
#include <kopp/informer/json_splitter.hpp>

namespace kopp {
namespace {

constexpr std::size_t kMaxEnvelopeBytes = 1U << 20U;
constexpr std::string_view kWhitespace = " \t\r\n";

std::string MebibytesText(std::size_t bytes) { return std::to_string(bytes >> 20U) + " MiB"; }

[[noreturn]] void ThrowMalformed(const std::string& problem) {
  throw DecodeError(DecodeError::Kind::kMalformed, "", problem);
}

/// Returns `c` in single quotes, or its code if it is not printable ASCII.
std::string DescribeByte(char c) {
  if (c > ' ' && c < '\x7f') return std::string("'") + c + "'";
  return "a byte with the value " + std::to_string(static_cast<unsigned char>(c));
}

}  // namespace

JsonSplitter::JsonSplitter(Mode mode, std::function<void(std::string_view)> on_object)
    : mode_(mode), on_object_(std::move(on_object)) {}

bool JsonSplitter::IsComplete() const {
  return brackets_.empty() && !in_string_ && (mode_ == Mode::kDocuments || list_closed_);
}

void JsonSplitter::Feed(std::string_view bytes) {
  run_start_ = 0;
  std::size_t position = 0;
  while (position < bytes.size()) {
    if (in_string_) {
      position = SkipString(bytes, position);
      continue;
    }
    switch (bytes[position]) {
      case '"':
        in_string_ = true;
        if (brackets_.size() == 1 && mode_ == Mode::kListItems) last_string_.clear();
        break;
      case '{':
      case '[':
        OpenBracket(bytes, position);
        break;
      case '}':
      case ']':
        CloseBracket(bytes, position);
        break;
      default:
        break;
    }
    ++position;
  }
  AppendRun(bytes.substr(run_start_));
}

/// Skips the rest of a string, or all remaining bytes if the string continues in the next chunk.
/// Returns the index of the first byte that was not skipped. At the top level of a list, appends
/// the skipped text to last_string_.
std::size_t JsonSplitter::SkipString(std::string_view bytes, std::size_t position) {
  const std::size_t begin = position;
  for (; position < bytes.size(); ++position) {
    if (std::exchange(escaped_, false)) continue;
    if (bytes[position] == '\\') {
      escaped_ = true;
    } else if (bytes[position] == '"') {
      in_string_ = false;
      break;
    }
  }
  if (brackets_.size() == 1 && mode_ == Mode::kListItems) {
    last_string_ += bytes.substr(begin, position - begin);
  }
  return in_string_ ? position : position + 1;
}

void JsonSplitter::OpenBracket(std::string_view bytes, std::size_t position) {
  if (brackets_.size() == kMaxDepth) {
    ThrowMalformed("JSON is nested deeper than " + std::to_string(kMaxDepth) + " levels");
  }
  if (brackets_.empty() && (bytes[position] != '{' || list_closed_)) {
    ThrowUnexpected(bytes[position]);
  }
  const bool was_in_object = InObject();
  const bool opens_items = mode_ == Mode::kListItems && brackets_.size() == 1 &&
                           bytes[position] == '[' && last_string_ == "items";
  if (!was_in_object) {
    AppendRun(bytes.substr(run_start_, position - run_start_));
    run_start_ = position;
  }
  brackets_ += bytes[position];
  if (opens_items) {
    envelope_ += '[';
    run_start_ = position + 1;
    in_items_ = true;
  } else if (in_items_ && brackets_.size() == 3 && bytes[position] != '{') {
    ThrowMalformed("expected an object in \"items\", found a list");
  }
}

void JsonSplitter::CloseBracket(std::string_view bytes, std::size_t position) {
  const char opener = bytes[position] == '}' ? '{' : '[';
  if (brackets_.empty() || brackets_.back() != opener)
    ThrowMalformed("unexpected " + DescribeByte(bytes[position]));
  const bool was_in_object = InObject();
  brackets_.pop_back();
  if (was_in_object && !InObject()) {
    const std::string_view rest = bytes.substr(run_start_, position + 1 - run_start_);
    run_start_ = position + 1;
    if (partial_object_.empty()) {
      on_object_(rest);
    } else {
      on_object_(partial_object_.append(rest));
      partial_object_.clear();
    }
  } else if (in_items_ && brackets_.size() == 1) {
    run_start_ = position;  // discards the text after the last item
    in_items_ = false;
  }
  if (mode_ == Mode::kListItems && brackets_.empty()) {
    envelope_ += bytes.substr(run_start_, position + 1 - run_start_);
    run_start_ = position + 1;
    list_closed_ = true;
  }
}

/// Appends bytes to the current object or to the envelope. At the top level, throws for anything
/// but white space. Between the items of a list, discards the bytes without checking them.
void JsonSplitter::AppendRun(std::string_view run) {
  if (InObject()) {
    if (partial_object_.size() + run.size() > kMaxObjectBytes) {
      ThrowMalformed("an object is larger than " + MebibytesText(kMaxObjectBytes));
    }
    partial_object_ += run;
  } else if (brackets_.empty()) {
    const auto unexpected = run.find_first_not_of(kWhitespace);
    if (unexpected != std::string_view::npos) ThrowUnexpected(run[unexpected]);
  } else if (!in_items_) {
    if (envelope_.size() + run.size() > kMaxEnvelopeBytes) {
      ThrowMalformed("the members of a list other than \"items\" are larger than " +
                     MebibytesText(kMaxEnvelopeBytes));
    }
    envelope_ += run;
  }
}

/// Throws for a character at the top level that does not begin an object.
void JsonSplitter::ThrowUnexpected(char found) const {
  ThrowMalformed((list_closed_ ? "expected the end of the list response, found "
                               : "expected a JSON object, found ") +
                 DescribeByte(found));
}

}  // namespace kopp
