#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <simdjson.h>

#include <kopp/informer/detail/json_splitter.hpp>
#include <kopp/informer/detail/padded_text.hpp>
#include <kopp/informer/fields.hpp>

namespace kopp::detail {

static_assert(simdjson::SIMDJSON_PADDING <= PaddedText::kPadding);

/// The simdjson value behind a Cursor. Defined here so that fields.hpp does not include simdjson.
struct Cursor::Value {
  simdjson::ondemand::value json;
};

/// Throws DecodeError (kMalformed) with the message of `error`.
[[noreturn]] void ThrowMalformed(simdjson::error_code error);

/// Returns whether the key or string is `text`, which must not have characters that JSON escapes.
bool Equals(simdjson::ondemand::raw_json_string string, std::string_view text);

/// Decodes the given fields of `json` into the struct at `object` and skips all others.
void DecodeMembers(simdjson::ondemand::object json, void* object, Fields fields);

/// The exclusive use of a simdjson parser. Threads keep one idle parser for their next lease; a
/// parser that has grown large is freed instead.
class ParserLease {
 public:
  ParserLease();
  ~ParserLease();
  ParserLease(const ParserLease&) = delete;
  ParserLease& operator=(const ParserLease&) = delete;

  /// Copies `text` to a buffer with padding. The copy is valid as long as the lease.
  PaddedText CopyWithPadding(std::string_view text);

  /// The document is valid as long as the lease and `text`. Throws simdjson::simdjson_error.
  simdjson::ondemand::document Parse(PaddedText text) {
    // The conversion may throw. NOLINTNEXTLINE(modernize-return-braced-init-list)
    return parser_->json.iterate(text.text.data(), text.text.size(),
                                 text.text.size() + PaddedText::kPadding);
  }

 private:
  struct Parser {
    simdjson::ondemand::parser json{JsonSplitter::kMaxObjectBytes};  // rejects longer documents
    std::string padded;                                              // a text with its padding
  };
  static std::unique_ptr<Parser>& IdleParser();

  std::unique_ptr<Parser> parser_;
};

/// Calls `use` and throws DecodeError (kMalformed) if simdjson reports an error: it parses on
/// demand, so this may be while values are read.
template <typename Use>
auto WithDecodeErrors(Use use) {
  try {
    return use();
  } catch (const simdjson::simdjson_error& error) {
    ThrowMalformed(error.error());
  }
}

}  // namespace kopp::detail
