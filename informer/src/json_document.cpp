#include "json_document.hpp"

#include <cstring>
#include <utility>

namespace kopp::detail {
namespace {

// etcd limits objects to 1.5 MB by default, so that a thread rarely allocates a parser again.
constexpr std::size_t kMaxIdleBytes = 2U << 20U;

// simdjson's texts are for its callers; some name functions of its API.
std::string DescribeJsonError(simdjson::error_code error) {
  if (error == simdjson::EMPTY) return "the text is empty";
  if (error == simdjson::SCALAR_DOCUMENT_AS_VALUE) return "expected an object or a list";
  return simdjson::error_message(error);
}

}  // namespace

std::unique_ptr<ParserLease::Parser>& ParserLease::IdleParser() {
  thread_local std::unique_ptr<Parser> idle;
  return idle;
}

ParserLease::ParserLease() : parser_(std::move(IdleParser())) {
  if (!parser_) parser_ = std::make_unique<Parser>();
}

ParserLease::~ParserLease() {
  const bool large =
      parser_->json.capacity() > kMaxIdleBytes || parser_->padded.capacity() > kMaxIdleBytes;
  if (!large) IdleParser() = std::move(parser_);
}

PaddedText ParserLease::CopyWithPadding(std::string_view text) {
  parser_->padded.reserve(text.size() + PaddedText::kPadding);
  parser_->padded.assign(text);
  return {parser_->padded};
}

void ThrowMalformed(simdjson::error_code error) {
  throw DecodeError(DecodeError::Kind::kMalformed, "",
                    "not valid JSON: " + DescribeJsonError(error));
}

// Reading beyond the end of the string is safe because of the padding.
bool Equals(simdjson::ondemand::raw_json_string string, std::string_view text) {
  const char* const raw = string.raw();
  if (!text.empty() && *raw != text.front()) return false;  // most keys
  return std::strncmp(raw, text.data(), text.size()) == 0 && raw[text.size()] == '"';
}

}  // namespace kopp::detail
