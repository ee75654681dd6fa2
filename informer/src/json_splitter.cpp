#include <utility>

#include <kopp/informer/fields.hpp>
#include <kopp/informer/json_splitter.hpp>

namespace kopp {
namespace {

constexpr std::size_t kMaxEnvelope = 1U << 20U;
constexpr std::string_view kBlank = " \t\r\n";

[[noreturn]] void Malformed(const std::string& problem) {
  throw DecodeError(DecodeError::Kind::kMalformed, "", problem);
}

}  // namespace

JsonSplitter::JsonSplitter(Of of, std::function<void(std::string_view)> each)
    : of_(of), each_(std::move(each)) {}

bool JsonSplitter::AtEnd() const {
  return brackets_.empty() && !in_string_ && (of_ == Of::kDocuments || closed_);
}

void JsonSplitter::Feed(std::string_view bytes) {
  run_ = 0;
  std::size_t at = 0;
  while (at < bytes.size()) {
    if (in_string_) {
      at = PassString(bytes, at);
      continue;
    }
    switch (bytes[at]) {
      case '"':
        in_string_ = true;
        if (brackets_.size() == 1 && of_ == Of::kItems) key_.clear();
        break;
      case '{':
      case '[':
        Open(bytes, at);
        break;
      case '}':
      case ']':
        Close(bytes, at);
        break;
      default:
        break;
    }
    ++at;
  }
  Flush(bytes.substr(run_));
}

/// Goes to the end of the string, or of the bytes; returns the index behind.
std::size_t JsonSplitter::PassString(std::string_view bytes, std::size_t at) {
  const std::size_t from = at;
  for (; at < bytes.size(); ++at) {
    if (std::exchange(escaped_, false)) continue;
    if (bytes[at] == '\\') {
      escaped_ = true;
    } else if (bytes[at] == '"') {
      in_string_ = false;
      break;
    }
  }
  if (brackets_.size() == 1 && of_ == Of::kItems) key_ += bytes.substr(from, at - from);
  return in_string_ ? at : at + 1;
}

void JsonSplitter::Open(std::string_view bytes, std::size_t at) {
  if (brackets_.size() == kMaxDepth) Malformed("nested deeper than 512 levels");
  if (brackets_.empty() && (bytes[at] != '{' || closed_)) Malformed("expected an object");
  const bool was_in_object = InObject();
  const bool opens_items =
      of_ == Of::kItems && brackets_.size() == 1 && bytes[at] == '[' && key_ == "items";
  if (!was_in_object) {
    Flush(bytes.substr(run_, at - run_));
    run_ = at;
  }
  brackets_ += bytes[at];
  if (opens_items) {
    envelope_ += '[';
    run_ = at + 1;
    in_items_ = true;
  } else if (in_items_ && brackets_.size() == 3 && bytes[at] != '{') {
    Malformed("expected an object in the list");
  }
}

void JsonSplitter::Close(std::string_view bytes, std::size_t at) {
  const char opener = bytes[at] == '}' ? '{' : '[';
  if (brackets_.empty() || brackets_.back() != opener)
    Malformed("a bracket closes what is not open");
  const bool was_in_object = InObject();
  brackets_.pop_back();
  if (was_in_object && !InObject()) {
    const std::string_view rest = bytes.substr(run_, at + 1 - run_);
    run_ = at + 1;
    if (object_.empty()) {
      each_(rest);
    } else {
      each_(object_.append(rest));
      object_.clear();
    }
  } else if (in_items_ && brackets_.size() == 1) {
    run_ = at;  // what stood between the items is not kept
    in_items_ = false;
  }
  if (of_ == Of::kItems && brackets_.empty()) {
    envelope_ += bytes.substr(run_, at + 1 - run_);
    run_ = at + 1;
    closed_ = true;
  }
}

/// Keeps a run of bytes where it belongs.
void JsonSplitter::Flush(std::string_view run) {
  if (InObject()) {
    if (object_.size() + run.size() > kMaxObject) Malformed("an object is longer than 64 MiB");
    object_ += run;
  } else if (brackets_.empty()) {
    if (run.find_first_not_of(kBlank) != std::string_view::npos) Malformed("expected an object");
  } else if (!in_items_) {
    if (envelope_.size() + run.size() > kMaxEnvelope)
      Malformed("a list's head is longer than 1 MiB");
    envelope_ += run;
  }
}

}  // namespace kopp
