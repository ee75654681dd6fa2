#pragma once

#include <string_view>

#include <simdjson.h>

#include <kopp/informer/fields.hpp>
#include <kopp/informer/json_splitter.hpp>

namespace kopp::detail {

/// The simdjson value behind a Cursor. Defined here so that fields.hpp does not include simdjson.
struct Cursor::Value {
  simdjson::ondemand::value json;
};

/// Parses `text` with the parser of the calling thread and calls `use(document)`. Throws
/// DecodeError (kMalformed) if simdjson reports an error, before or inside `use`: simdjson parses
/// on demand. Not reentrant: `use` must not call WithDocument. The document is valid only during
/// the call.
template <typename Use>
void WithDocument(std::string_view text, Use use);

/// Throws DecodeError (kMalformed) with the message of `error`.
[[noreturn]] void ThrowMalformed(simdjson::error_code error);

/// A parser and its buffer, reused by all calls on one thread.
struct ThreadParser {
  simdjson::ondemand::parser parser{JsonSplitter::kMaxObjectBytes};  // rejects longer documents
  std::string padded;  // the text, followed by the padding that simdjson requires
};
/// Returns the parser of the calling thread.
ThreadParser& GetThreadParser();

template <typename Use>
void WithDocument(std::string_view text, Use use) {
  ThreadParser& thread_parser = GetThreadParser();
  thread_parser.padded.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  thread_parser.padded.assign(text);
  try {
    simdjson::ondemand::document document = thread_parser.parser.iterate(thread_parser.padded);
    use(document);
  } catch (const simdjson::simdjson_error& error) {
    ThrowMalformed(error.error());
  }
}

}  // namespace kopp::detail
