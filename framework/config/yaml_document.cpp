#include "yaml_document.hpp"

#include "base/quoted.hpp"

#include <cstddef>
#include <sstream>

#include <yaml-cpp/eventhandler.h>

#include <kopp/config_error.hpp>

namespace kopp::detail {
namespace {

// Checks the parse events of a document before a tree is built. Rejects aliases, because an alias
// can make the tree a thousand times larger than the text, or infinite. Limits the number of nodes,
// and so the memory. The depth needs no check here: yaml-cpp allows 500 levels.
class DocumentLimits final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { Count(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw YAML::ParserException(mark, "it must not use aliases (*name)");
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
    if (++nodes_ > kMaxNodes) throw YAML::ParserException(mark, "more than 100,000 values");
  }

  std::size_t nodes_ = 0;
};

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
  } catch (const YAML::Exception& error) {
    throw ConfigError(YamlLocation(where, error.mark) + ": invalid YAML: " + Escaped(error.msg) +
                      "; " + advice);
  }
}

}  // namespace kopp::detail
