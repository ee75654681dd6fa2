#include "schema/pattern.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <re2/re2.h>

namespace kopp::schema {
namespace {

re2::StringPiece View(std::string_view text) { return {text.data(), text.size()}; }

/// The description of an error in Go's package regexp/syntax.
const char* GoErrorText(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case RE2::ErrorBadCharClass:
      return "invalid character class";
    case RE2::ErrorBadCharRange:
      return "invalid character class range";
    case RE2::ErrorMissingBracket:
      return "missing closing ]";
    case RE2::ErrorMissingParen:
      return "missing closing )";
    case RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    case RE2::ErrorPatternTooLarge:
      return "expression too large";
    default:
      return "regexp/syntax: internal error";
  }
}

std::shared_ptr<const RE2> Compile(std::string_view expression, Pattern::Case letter_case) {
  RE2::Options options;
  options.set_log_errors(false);
  if (letter_case == Pattern::Case::kInsensitive) {
    options.set_case_sensitive(false);
    // In UTF-8, "k" would also match the Kelvin sign.
    options.set_encoding(RE2::Options::EncodingLatin1);
  }
  auto regex = std::make_shared<const RE2>(View(expression), options);
  if (regex->ok()) return regex;
  throw std::invalid_argument(fmt::format("error parsing regexp: {}: `{}`",
                                          GoErrorText(regex->error_code()), regex->error_arg()));
}

}  // namespace

Pattern::Pattern(std::string_view expression, Case letter_case)
    : regex_(Compile(expression, letter_case)) {}

bool Pattern::FullMatch(std::string_view text) const { return RE2::FullMatch(View(text), *regex_); }

bool Pattern::PartialMatch(std::string_view text) const {
  return RE2::PartialMatch(View(text), *regex_);
}

}  // namespace kopp::schema
