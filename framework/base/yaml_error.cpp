#include "base/yaml_error.hpp"

#include <array>

#include <yaml-cpp/exceptions.h>

namespace kopp::detail {
namespace {

// Returns the fixed part of a message of yaml-cpp: text of the document may follow a colon.
constexpr std::string_view FixedPart(std::string_view message) {
  return message.substr(0, message.find(':'));
}

}  // namespace

std::string_view DescribeYamlError(const YAML::Exception& error) {
  namespace messages = YAML::ErrorMsg;
  if (error.msg == messages::BAD_FILE) return "it is nested too deeply";  // no file is opened
  const auto known = std::to_array<std::string_view>(
      {messages::YAML_DIRECTIVE_ARGS, messages::YAML_VERSION,
       messages::YAML_MAJOR_VERSION,  messages::REPEATED_YAML_DIRECTIVE,
       messages::TAG_DIRECTIVE_ARGS,  messages::REPEATED_TAG_DIRECTIVE,
       messages::CHAR_IN_TAG_HANDLE,  messages::TAG_WITH_NO_SUFFIX,
       messages::END_OF_VERBATIM_TAG, messages::END_OF_MAP,
       messages::END_OF_MAP_FLOW,     messages::END_OF_SEQ,
       messages::END_OF_SEQ_FLOW,     messages::MULTIPLE_TAGS,
       messages::MULTIPLE_ANCHORS,    messages::ALIAS_CONTENT,
       messages::INVALID_HEX,         messages::INVALID_UNICODE,
       messages::INVALID_ESCAPE,      messages::UNKNOWN_TOKEN,
       messages::DOC_IN_SCALAR,       messages::EOF_IN_SCALAR,
       messages::TAB_IN_INDENTATION,  messages::FLOW_END,
       messages::BLOCK_ENTRY,         messages::MAP_KEY,
       messages::MAP_VALUE,           messages::ALIAS_NOT_FOUND,
       messages::ANCHOR_NOT_FOUND,    messages::CHAR_IN_ALIAS,
       messages::CHAR_IN_ANCHOR,      messages::ZERO_INDENT_IN_BLOCK,
       messages::CHAR_IN_BLOCK,       messages::UNKNOWN_ANCHOR});
  for (const std::string_view message : known) {
    if (error.msg.starts_with(FixedPart(message))) return FixedPart(message);
  }
  return "it is not valid";
}

}  // namespace kopp::detail
