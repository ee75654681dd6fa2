#include "command_line.hpp"

#include "temporary_folder.hpp"

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::command {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kCrd = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Foo, plural: foos}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
)";

class CommandLineTest : public ::testing::Test {
 protected:
  // Runs `kopp` with these arguments. Its output is in out_ and errors_.
  int RunKopp(const std::vector<std::string>& arguments, const std::string& input = "",
              bool interactive = false) {
    std::vector<const char*> argv{"kopp"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream errors;
    const int code =
        command::Run(static_cast<int>(argv.size()), argv.data(),
                     {.in = in, .out = out, .errors = errors, .interactive = interactive});
    out_ = out.str();
    errors_ = errors.str();
    return code;
  }
  int Init(const std::vector<std::string>& more = {}, const std::string& input = "",
           bool interactive = false) {
    std::vector<std::string> arguments{"init",        Path("website"), "--group",
                                       "example.com", "--kind",        "Website"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunKopp(arguments, input, interactive);
  }
  [[nodiscard]] std::string Path(const std::string& file) const {
    return (folder_.path() / file).string();
  }

  TemporaryFolder folder_;
  std::string out_;
  std::string errors_;
};

TEST_F(CommandLineTest, HelpShowsCommandsAndExamples) {
  EXPECT_EQ(RunKopp({"--help"}), 0);

  EXPECT_THAT(out_, HasSubstr("init"));
  EXPECT_THAT(out_, HasSubstr("kopp init website --group example.com --kind Website"));
  EXPECT_EQ(RunKopp({"gen", "types", "--help"}), 0);
  EXPECT_THAT(out_, HasSubstr("--output"));
}

TEST_F(CommandLineTest, AWrongCommandLineHasExitCode2) {
  EXPECT_EQ(RunKopp({"init", "website"}), 2);
  EXPECT_EQ(errors_,
            "kopp init: --group is required\n`kopp init --help` shows its flags and an example.\n");
  EXPECT_EQ(RunKopp({"inti"}), 2);
  EXPECT_EQ(RunKopp({}), 2);
}

TEST_F(CommandLineTest, InitNamesTheProjectAfterItsFolder) {
  EXPECT_EQ(Init(), 0) << errors_;

  EXPECT_THAT(folder_.Read("website/CMakeLists.txt"), HasSubstr("project(website "));
  EXPECT_THAT(out_, HasSubstr("make test"));
}

TEST_F(CommandLineTest, InitTwiceChangesNothing) {
  Init();

  EXPECT_EQ(Init(), 0);

  EXPECT_THAT(out_, Not(HasSubstr("wrote")));
}

TEST_F(CommandLineTest, InitRefusesChangedFilesWithoutATerminal) {
  Init();
  folder_.Write("website/src/main.cpp", "mine");

  EXPECT_EQ(Init(), 1);

  EXPECT_THAT(errors_, ContainsRegex("website/src/main.cpp\n.*--force"));
  EXPECT_EQ(folder_.Read("website/src/main.cpp"), "mine");
  EXPECT_EQ(Init({"--force"}), 0);
  EXPECT_THAT(folder_.Read("website/src/main.cpp"), HasSubstr("int main"));
}

TEST_F(CommandLineTest, InitAsksOnATerminalBeforeItOverwrites) {
  Init();
  folder_.Write("website/src/main.cpp", "mine");

  EXPECT_EQ(Init({}, "n\n", true), 0);
  EXPECT_THAT(out_, ContainsRegex("main.cpp was changed. Overwrite it\\? .*kept  src/main.cpp"));
  EXPECT_EQ(folder_.Read("website/src/main.cpp"), "mine");

  EXPECT_EQ(Init({}, "y\n", true), 0);
  EXPECT_THAT(folder_.Read("website/src/main.cpp"), HasSubstr("int main"));
}

TEST_F(CommandLineTest, CreateWebhookAddsTheFilesOfInitWithWebhooks) {
  Init();
  ASSERT_EQ(RunKopp({"create", "webhook", "--project", Path("website/src")}), 0) << errors_;
  EXPECT_THAT(out_, HasSubstr("wrote src/website_webhook.cpp"));
  EXPECT_THAT(out_, HasSubstr("src/main.cpp: include \"website_webhook.hpp\""));
  EXPECT_THAT(out_, HasSubstr("--resolve default/website-webhooks:443=127.0.0.1:"));

  EXPECT_EQ(RunKopp({"create", "webhook", "--project", Path("website"), "--check"}), 0);
  EXPECT_EQ(Init({"--webhook"}), 0);
  EXPECT_THAT(out_, Not(HasSubstr("wrote src/website_webhook.cpp")));
  EXPECT_THAT(out_, HasSubstr("wrote src/main.cpp"));
}

TEST_F(CommandLineTest, CreateWebhookSaysWhatAProjectLacks) {
  EXPECT_EQ(RunKopp({"create", "webhook", "--project", Path("")}), 1);
  EXPECT_THAT(errors_, HasSubstr("run the command in a project of `kopp init`"));

  Init();
  EXPECT_EQ(RunKopp({"create", "webhook", "--project", Path("website"), "--kind", "Page"}), 1);
  EXPECT_THAT(errors_, HasSubstr("set --kind to one of these kinds: Website"));

  std::filesystem::remove(Path("website/src/website.hpp"));
  EXPECT_EQ(RunKopp({"create", "webhook", "--project", Path("website")}), 1);
  EXPECT_THAT(errors_, HasSubstr("website.hpp with the struct of the kind Website"));

  std::filesystem::remove_all(Path("website/config"));
  EXPECT_EQ(RunKopp({"create", "webhook", "--project", Path("website")}), 1);
  EXPECT_THAT(errors_, HasSubstr("has no CustomResourceDefinition"));
}

TEST_F(CommandLineTest, GenTypesWritesBelowTheOutputFolder) {
  folder_.Write("crd.yaml", kCrd);

  EXPECT_EQ(RunKopp({"gen", "types", Path("crd.yaml"), "-o", Path("src")}), 0) << errors_;

  EXPECT_THAT(folder_.Read("src/example_com/v1/foo.hpp"), HasSubstr("struct Foo {"));
}

TEST_F(CommandLineTest, GenTypesReadsTheStandardInput) {
  EXPECT_EQ(RunKopp({"gen", "types", "-", "-o", Path("src")}, kCrd), 0) << errors_;

  EXPECT_THAT(folder_.Read("src/example_com/v1/foo.hpp"), HasSubstr("struct Foo {"));
}

TEST_F(CommandLineTest, GenTypesNamesTheFileOfAnError) {
  folder_.Write("pod.yaml", "{apiVersion: v1, kind: Pod}");

  EXPECT_EQ(RunKopp({"gen", "types", Path("pod.yaml"), "-o", Path("src")}), 1);

  EXPECT_THAT(errors_, HasSubstr("pod.yaml: expected a CustomResourceDefinition"));
}

TEST_F(CommandLineTest, GenTypesReportsVersionsThatAreNotServed) {
  const std::string other =
      "    - {name: v2, served: false, schema: {openAPIV3Schema: {type: object}}}\n";

  EXPECT_EQ(RunKopp({"gen", "types", "-", "-o", Path("src")}, kCrd + other), 0);

  EXPECT_EQ(errors_,
            "kopp: -: no header for version v2 of foos.example.com, which is not served: set "
            "`served: true` in the file to generate it\n");
  EXPECT_THAT(folder_.Read("src/example_com/v1/foo.hpp"), HasSubstr("struct Foo {"));
}

TEST_F(CommandLineTest, GenTypesFailsIfNoVersionIsServed) {
  std::string crd = kCrd;
  crd.replace(crd.find("served: true"), 12, "served: no");

  EXPECT_EQ(RunKopp({"gen", "types", "-", "-o", Path("src")}, crd), 1);

  EXPECT_THAT(errors_, HasSubstr("no header for version v1 of foos.example.com"));
  EXPECT_THAT(errors_, HasSubstr("no CustomResourceDefinition with a version that is served"));
}

TEST_F(CommandLineTest, GenRbacWritesWhatTheProgramPrints) {
  EXPECT_EQ(RunKopp({"gen", "rbac", SAMPLE_CONTROLLER, "--project", Path("")}), 0) << errors_;

  EXPECT_THAT(folder_.Read("config/rbac/role.yaml"), HasSubstr("kind: ClusterRole"));
  EXPECT_EQ(folder_.Read("charts/sample-controller/files/rbac.yaml"),
            folder_.Read("config/rbac/role.yaml"));
}

TEST_F(CommandLineTest, CheckReportsOutdatedFilesAndWritesNothing) {
  EXPECT_EQ(RunKopp({"gen", "rbac", SAMPLE_CONTROLLER, "--project", Path(""), "--check"}), 1);

  EXPECT_THAT(errors_, HasSubstr("config/rbac/role.yaml is out of date"));
  EXPECT_EQ(folder_.Read("config/rbac/role.yaml"), "");
}

TEST_F(CommandLineTest, GenCrdWritesOneFileForEachDefinition) {
  folder_.Write("operator", "#!/bin/sh\ncat " + Path("crds.yaml"));
  folder_.Write("crds.yaml", std::string(kCrd) + "---\n" + kCrd);
  std::filesystem::permissions(Path("operator"), std::filesystem::perms::owner_all);

  EXPECT_EQ(RunKopp({"gen", "crd", Path("operator"), "--project", Path("")}), 0) << errors_;

  EXPECT_EQ(folder_.Read("config/crd/example.com_foos.yaml"), kCrd);
  EXPECT_EQ(folder_.Read("charts/operator/files/crds/example.com_foos.yaml"), kCrd);
}

TEST_F(CommandLineTest, GenCrdShowsTheWarningsOfTheProgram) {
  folder_.Write("operator",
                "#!/bin/sh\necho 'Warning: fields are lost' >&2\ncat " + Path("crds.yaml"));
  folder_.Write("crds.yaml", kCrd);
  std::filesystem::permissions(Path("operator"), std::filesystem::perms::owner_all);

  EXPECT_EQ(RunKopp({"gen", "crd", Path("operator"), "--project", Path("")}), 0);

  EXPECT_EQ(errors_, "Warning: fields are lost\n");
}

TEST_F(CommandLineTest, TheEndOfAFailedProgramIsShown) {
  folder_.Write("operator", "#!/bin/sh\necho 'no such flag' >&2; exit 3");
  std::filesystem::permissions(Path("operator"), std::filesystem::perms::owner_all);

  EXPECT_EQ(RunKopp({"gen", "crd", Path("operator"), "--project", Path("")}), 1);

  EXPECT_THAT(errors_, ContainsRegex("--print-crd ended with exit code 3:\nno such flag"));
  EXPECT_EQ(RunKopp({"gen", "crd", Path("missing")}), 1);
  EXPECT_THAT(errors_, HasSubstr("build your operator first"));
}

TEST_F(CommandLineTest, BashCompletesCommandsAndFlags) {
  ASSERT_EQ(RunKopp({"completion", "bash"}), 0);
  folder_.Write("complete", out_);
  const auto complete = [&](const std::string& words, int last) {
    const std::string script = "source " + Path("complete") + "; COMP_WORDS=(" + words +
                               "); COMP_CWORD=" + std::to_string(last) +
                               "; _kopp; echo ${COMPREPLY[*]} > " + Path("reply");
    EXPECT_EQ(std::system(("bash -c '" + script + "'").c_str()), 0);  // NOLINT(cert-env33-c)
    return folder_.Read("reply");
  };
  EXPECT_EQ(complete("kopp i", 1), "init\n");
  EXPECT_EQ(complete("kopp gen t", 2), "types\n");
  EXPECT_EQ(complete("kopp gen types crd.yaml --out", 4), "--output\n");
  EXPECT_EQ(complete("kopp completion f", 2), "fish\n");
}

TEST_F(CommandLineTest, EveryShellHasACompletionScript) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_EQ(RunKopp({"completion", shell}), 0);
    EXPECT_THAT(out_, HasSubstr("--namespaced")) << shell;
  }
  EXPECT_EQ(RunKopp({"completion", "tcsh"}), 1);
  EXPECT_THAT(errors_, HasSubstr("bash, zsh or fish"));
}

}  // namespace
}  // namespace kopp::command
