#include "program_crds.hpp"

#include "crd/lost_fields.hpp"

#include <iostream>
#include <stdexcept>
#include <utility>

namespace kopp {
namespace {

std::vector<std::string> DescribeLostFields(
    const std::vector<CustomResourceDefinition>& definitions) {
  std::vector<std::string> all;
  for (const CustomResourceDefinition& definition : definitions) {
    for (std::string& text : kopp::DescribeLostFields(definition)) all.push_back(std::move(text));
  }
  return all;
}

}  // namespace

void ProgramCrds::Add(detail::CrdSource source) {
  const std::lock_guard guard{mutex_};
  sources_.push_back(std::move(source));
}

std::vector<CustomResourceDefinition> ProgramCrds::Definitions() const {
  std::vector<detail::CrdSource> sources;
  {
    const std::lock_guard guard{mutex_};
    sources = sources_;
  }
  return CustomResourceDefinition::Make(sources);
}

std::vector<std::string> ProgramCrds::Warnings() const {
  try {
    return DescribeLostFields(Definitions());
  } catch (const std::logic_error& error) {
    return {error.what()};
  }
}

int ProgramCrds::Print(const Logger& log) const {
  try {
    std::string text;
    const std::vector<CustomResourceDefinition> definitions = Definitions();
    for (const CustomResourceDefinition& definition : definitions) {
      text += (text.empty() ? "" : "---\n") + definition.ToYaml();
    }
    if (text.empty()) throw std::logic_error("no kind of the program has KOPP_CRD");
    std::cout << text;
    for (const std::string& warning : DescribeLostFields(definitions)) {
      std::cerr << "Warning: " << warning << '\n';
    }
    return 0;
  } catch (const std::logic_error& error) {
    log.Error("Cannot print the CustomResourceDefinitions", {{"err", error.what()}});
    return 1;
  }
}

}  // namespace kopp
