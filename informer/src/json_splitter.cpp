#include <utility>

#include <kopp/informer/fields.hpp>
#include <kopp/informer/json_splitter.hpp>

namespace kopp {
namespace {

constexpr std::size_t kMaxEnvelopeBytes = 1U << 20U;
constexpr std::string_view kWhitespace = " \t\r\n";

[[noreturn]] void ThrowMalformed(const std::string& problem) {
  throw DecodeError(DecodeError::Kind::kMalformed, "", problem);
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

/// Skips to the end of the string or of the bytes; returns the index after it.
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
  if (brackets_.size() == kMaxDepth) ThrowMalformed("JSON is nested deeper than 512 levels");
  if (brackets_.empty() && (bytes[position] != '{' || list_closed_)) {
    ThrowMalformed("expected a JSON object");
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
    ThrowMalformed("expected an object in \"items\"");
  }
}

void JsonSplitter::CloseBracket(std::string_view bytes, std::size_t position) {
  const char opener = bytes[position] == '}' ? '{' : '[';
  if (brackets_.empty() || brackets_.back() != opener) ThrowMalformed("unexpected closing bracket");
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
    run_start_ = position;  // discards the text between the items
    in_items_ = false;
  }
  if (mode_ == Mode::kListItems && brackets_.empty()) {
    envelope_ += bytes.substr(run_start_, position + 1 - run_start_);
    run_start_ = position + 1;
    list_closed_ = true;
  }
}

/// Appends a run of bytes to the current object or to the envelope. Between objects, only white
/// space is allowed.
void JsonSplitter::AppendRun(std::string_view run) {
  if (InObject()) {
    if (partial_object_.size() + run.size() > kMaxObjectBytes) {
      ThrowMalformed("an object is larger than 64 MiB");
    }
    partial_object_ += run;
  } else if (brackets_.empty()) {
    if (run.find_first_not_of(kWhitespace) != std::string_view::npos) {
      ThrowMalformed("expected a JSON object");
    }
  } else if (!in_items_) {
    if (envelope_.size() + run.size() > kMaxEnvelopeBytes) {
      ThrowMalformed("the members of a list other than \"items\" are larger than 1 MiB");
    }
    envelope_ += run;
  }
}

}  // namespace kopp
