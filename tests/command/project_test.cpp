#include "project.hpp"

#include "template_text.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <schema/yaml.hpp>

#include <kopp/testing/environment.hpp>

namespace kopp::command {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

ProjectOptions Website() {
  return {.name = "website-operator", .group = "example.com", .kind = "Website"};
}

std::string FileIn(const std::vector<GeneratedFile>& files, const std::string& path) {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const GeneratedFile& file) { return file.path == path; });
  return found == files.end() ? "there is no " + path : found->text;
}

TEST(ProjectTest, ValuesReplaceOnlyKnownNames) {
  EXPECT_EQ(Substitute("@a@ @b@ x@y @a@@a", {{"a", "1"}}), "1 @b@ x@y 1@a");
}

TEST(ProjectTest, LinesAreSelectedByTheirCondition) {
  EXPECT_EQ(SelectLines("1\n@if a@   2\n@if b@ 3\n@if c d@ 4\n5", {"a", "c d"}), "1\n  2\n4\n5");
}

TEST(ProjectTest, NoPlaceholderRemainsInAProject) {
  for (const bool namespaced : {true, false}) {
    auto options = Website();
    options.namespaced = namespaced;
    options.webhook = namespaced;
    for (const GeneratedFile& file : ProjectFiles(options)) {
      if (file.path.string().starts_with("charts/")) continue;
      for (const char* variable :
           {"@name@", "@Kind@", "@Type@", "@file@", "@plural@", "@variable@", "@if "}) {
        EXPECT_THAT(file.text, Not(HasSubstr(variable))) << file.path;
        EXPECT_THAT(file.path.string(), Not(HasSubstr(variable)));
      }
    }
  }
}

TEST(ProjectTest, TheCrdHasTheNamesOfTheOptions) {
  auto options = Website();
  options.plural = "sites";
  options.version = "v1beta1";
  options.namespaced = false;
  const auto files = ProjectFiles(options);

  const auto crd = schema::ParseYaml(FileIn(files, "config/crd/example.com_sites.yaml"));

  EXPECT_EQ(crd["metadata"]["name"], "sites.example.com");
  EXPECT_EQ(crd["spec"]["names"]["kind"], "Website");
  EXPECT_EQ(crd["spec"]["scope"], "Cluster");
  EXPECT_EQ(crd["spec"]["versions"][0]["name"], "v1beta1");
}

TEST(ProjectTest, AKindWithTheNameOfAMacroHasAStructWithAnotherName) {
  auto options = Website();
  options.kind = "EOF";
  const std::string header = FileIn(ProjectFiles(options), "src/eof.hpp");
  EXPECT_THAT(header, HasSubstr("struct EOF_ {"));
  EXPECT_THAT(header, HasSubstr("kKind{\"example.com/v1alpha1\", \"EOF\", \"eofs\"};"));
}

TEST(ProjectTest, ThePresetsOfTheSanitizersBuildAndTest) {
  const auto presets = nlohmann::json::parse(FileIn(ProjectFiles(Website()), "CMakePresets.json"));

  for (const std::string list : {"configurePresets", "buildPresets", "testPresets"}) {
    std::vector<std::string> names;
    for (const auto& preset : presets[list]) names.push_back(preset["name"]);
    EXPECT_THAT(names, IsSupersetOf({"asan", "tsan"})) << list;
  }
  EXPECT_THAT(presets["configurePresets"].dump(),
              AllOf(HasSubstr("-fsanitize=address,undefined"), HasSubstr("-fsanitize=thread")));
}

TEST(ProjectTest, TheChartHasTheManifestsAndTheStarter) {
  const auto files = ProjectFiles(Website());
  const std::string chart = "charts/website-operator/";

  EXPECT_EQ(FileIn(files, chart + "files/crds/example.com_websites.yaml"),
            FileIn(files, "config/crd/example.com_websites.yaml"));
  EXPECT_EQ(FileIn(files, chart + "files/rbac.yaml"), FileIn(files, "config/rbac/role.yaml"));
  EXPECT_THAT(FileIn(files, chart + "Chart.yaml"), HasSubstr("name: website-operator\n"));
  EXPECT_THAT(FileIn(files, chart + "templates/deployment.yaml"), HasSubstr("kind: Deployment"));
  EXPECT_THAT(FileIn(files, chart + "values.schema.json"), HasSubstr("image"));
}

TEST(ProjectTest, AProjectWithWebhooksHasTheirFilesAndEnablesThemInTheChart) {
  auto options = Website();
  const auto without = ProjectFiles(options);
  options.webhook = true;
  const auto files = ProjectFiles(options);

  const std::string values = "charts/website-operator/values.yaml";
  EXPECT_THAT(FileIn(without, "src/website_webhook.cpp"), HasSubstr("there is no"));
  EXPECT_THAT(FileIn(files, "src/website_webhook.cpp"), HasSubstr("AddWebhook<Website>()"));
  EXPECT_THAT(FileIn(files, "src/main.cpp"), HasSubstr("website_operator::AddWebhook(manager);"));
  EXPECT_THAT(FileIn(files, "CMakeLists.txt"),
              AllOf(HasSubstr("src/website_webhook.cpp"), HasSubstr("website_webhook_test.cpp")));
  EXPECT_EQ(schema::ParseYaml(FileIn(without, values))["webhook"]["enabled"], false);
  auto expected = schema::ParseYaml(FileIn(without, values));
  expected["webhook"]["enabled"] = true;
  EXPECT_EQ(schema::ParseYaml(FileIn(files, values)), expected);
  EXPECT_NO_THROW(kopp::testing::Environment().InstallObject(
      schema::ParseYaml(FileIn(files, "config/run/endpointslice.yaml"))));
}

TEST(ProjectTest, TheServerAcceptsTheCrdAndTheSample) {
  for (const bool namespaced : {true, false}) {
    auto options = Website();
    options.namespaced = namespaced;
    const auto files = ProjectFiles(options);
    kopp::testing::Environment env;

    for (const char* file :
         {"config/crd/example.com_websites.yaml", "config/samples/website.yaml"}) {
      EXPECT_NO_THROW(env.InstallObject(schema::ParseYaml(FileIn(files, file))));
    }
  }
}

TEST(ProjectTest, OptionsThatAreNotValidAreRefusedWithAdvice) {
  const auto error_of = [](const std::function<void(ProjectOptions&)>& change) {
    auto options = Website();
    change(options);
    try {
      (void)ProjectFiles(options);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(error_of([](auto& options) { options.name = "My Operator"; }),
              HasSubstr("the name \"My Operator\" is not valid: write lower-case letters"));
  EXPECT_THAT(error_of([](auto& options) { options.name = "test"; }), HasSubstr("reserved"));
  EXPECT_THAT(error_of([](auto& options) { options.name = "1st"; }), HasSubstr("not valid"));
  EXPECT_THAT(error_of([](auto& options) { options.kind = "NULL"; }), HasSubstr("reserved"));
  EXPECT_THAT(error_of([](auto& options) { options.kind = "Spec"; }), HasSubstr("reserved"));
  EXPECT_THAT(error_of([](auto& options) { options.group = "example"; }),
              HasSubstr("such as example.com"));
  EXPECT_THAT(error_of([](auto& options) { options.kind = "website"; }),
              HasSubstr("such as Website"));
  EXPECT_THAT(error_of([](auto& options) { options.version = "1.0"; }),
              HasSubstr("such as v1alpha1"));
  EXPECT_THAT(error_of([](auto& options) { options.plural = "Web"; }),
              HasSubstr("such as websites"));
}

}  // namespace
}  // namespace kopp::command
