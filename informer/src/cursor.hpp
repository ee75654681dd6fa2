#pragma once

#include <string_view>

#include <simdjson.h>

#include <kopp/informer/fields.hpp>

namespace kopp::detail {

struct Cursor::Value {
  simdjson::ondemand::value json;
};

/// Parses `text` with this thread's parser and hands the document to `use(document)`. Throws
/// DecodeError for what simdjson finds wrong, whenever it finds it: on demand, that is.
template <typename Use>
void WithDocument(std::string_view text, Use use);

/// The text is not JSON.
[[noreturn]] void ThrowMalformed(simdjson::error_code error);

struct ThreadParser {
  simdjson::ondemand::parser parser{64U << 20U};
  std::string padded;  // the text, with room behind it that simdjson may read
};
ThreadParser& ParserOfThisThread();

template <typename Use>
void WithDocument(std::string_view text, Use use) {
  ThreadParser& mine = ParserOfThisThread();
  mine.padded.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  mine.padded.assign(text);
  try {
    simdjson::ondemand::document document = mine.parser.iterate(mine.padded);
    use(document);
  } catch (const simdjson::simdjson_error& error) {
    ThrowMalformed(error.error());
  }
}

}  // namespace kopp::detail
