#include "yaml_document.hpp"

#include "base/yaml_error.hpp"

#include <cstddef>
#include <sstream>
#include <string_view>

#include <yaml-cpp/eventhandler.h>

#include <kopp/config_error.hpp>

namespace kopp::detail {
namespace {

// An error of a document that is valid YAML. Its message contains no text of the document.
class RejectedDocument final : public YAML::ParserException {
 public:
  using YAML::ParserException::ParserException;
};

// Checks the parse events of a document before a tree is built. Rejects aliases, because an alias
// can make the tree a thousand times larger than the text, or infinite. Limits the number of nodes,
// and so the memory. The depth needs no check here: yaml-cpp allows 500 levels.
class DocumentLimits final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { Count(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw RejectedDocument(mark, "it must not use aliases (*name)");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {
    Count(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {
    Count(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    Count(mark);
  }
  void OnMapEnd() override {}

 private:
  static constexpr std::size_t kMaxNodes = 100'000;

  void Count(const YAML::Mark& mark) {
    if (++nodes_ > kMaxNodes) throw RejectedDocument(mark, "more than 100,000 values");
  }

  std::size_t nodes_ = 0;
};

[[noreturn]] void ThrowInvalidYaml(const std::string& where, const YAML::Mark& mark,
                                   std::string_view problem, const std::string& advice) {
  const std::string column = mark.is_null() ? "" : ", column " + std::to_string(mark.column + 1);
  throw ConfigError(YamlLocation(where, mark) + column + ": invalid YAML: " + std::string(problem) +
                    "; " + advice);
}

}  // namespace

std::string YamlLocation(const std::string& where, const YAML::Mark& mark) {
  return mark.is_null() ? where : where + ", line " + std::to_string(mark.line + 1);
}

YAML::Node ParseYamlDocument(const std::string& text, const std::string& where,
                             const std::string& advice) {
  try {
    std::istringstream stream(text);
    DocumentLimits limits;
    YAML::Parser(stream).HandleNextDocument(limits);
    return YAML::Load(text);
  } catch (const RejectedDocument& error) {
    ThrowInvalidYaml(where, error.mark, error.msg, advice);
  } catch (const YAML::Exception& error) {
    ThrowInvalidYaml(where, error.mark, DescribeYamlError(error), advice);
  }
}

}  // namespace kopp::detail
