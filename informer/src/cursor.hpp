#pragma once

#include <string_view>

#include <simdjson.h>

#include <kopp/informer/fields.hpp>

namespace kopp::detail {

struct Cursor::Value {
  simdjson::ondemand::value json;
};

/// Parses `text` with this thread's parser and calls `use(document)`. Throws DecodeError for errors
/// of simdjson. It parses on demand, so these may also occur inside `use`.
template <typename Use>
void WithDocument(std::string_view text, Use use);

/// Throws DecodeError (kMalformed).
[[noreturn]] void ThrowMalformed(simdjson::error_code error);

/// A parser and its buffer, reused by all calls on one thread.
struct ThreadParser {
  simdjson::ondemand::parser parser{64U << 20U};
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
