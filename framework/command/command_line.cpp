#include "command_line.hpp"

#include "actions.hpp"
#include "base/version.hpp"
#include "completion.hpp"

#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace kopp::command {
namespace {

constexpr const char* kAbout =
    "Starts projects of Kubernetes operators in C++, and generates files for them.\n";
constexpr const char* kExamples =
    "Examples:\n"
    "  kopp init website --group example.com --kind Website\n"
    "      Write a new operator in ./website, with tests, an image, a chart and CI. Then:\n"
    "      cd website && make test && make run\n"
    "  kopp create webhook --kind Website\n"
    "      Add webhooks to the operator in this folder.\n"
    "  kopp gen types certificate-crd.yaml -o src\n"
    "      Write C++ structs for the kinds of another operator.\n"
    "  kopp gen crd build/website && kopp gen rbac build/website\n"
    "      Write the manifests that a built operator declares.\n"
    "  source <(kopp completion bash)\n"
    "      Complete commands and flags in this shell.\n"
    "\n"
    "A file that you have changed since kopp wrote it is overwritten only with --force or after a\n"
    "question. `kopp COMMAND --help` describes a command.";

// A command line. `run` is the chosen command.
class CommandLine {
 public:
  explicit CommandLine(const Terminal& terminal) : terminal_(terminal) {
    app_.description(kAbout);
    app_.footer(kExamples);
    app_.require_subcommand(1);
    app_.set_version_flag("--version", "kopp " + std::string(detail::Version()),
                          "Show the version and exit");
    AddInit();
    CLI::App& create = *app_.add_subcommand("create", "Add parts to an operator");
    create.require_subcommand(1);
    AddCreateWebhook(create);
    CLI::App& gen = *app_.add_subcommand("gen", "Generate types or manifests");
    gen.require_subcommand(1);
    AddTypes(gen);
    AddManifests(gen, "crd", "Write the CustomResourceDefinitions of a built operator",
                 "Runs PROGRAM --print-crd, and writes config/crd/ and the copies in the chart of "
                 "the same name.",
                 WriteCrds);
    AddManifests(gen, "rbac", "Write the permissions of a built operator",
                 "Runs PROGRAM --print-rbac, and writes config/rbac/role.yaml and its copy in the "
                 "chart of the same name.",
                 WriteRbac);
    AddCompletion();
    app_.failure_message([](const CLI::App* app, const CLI::Error& error) {
      std::string command = app->get_name();
      for (auto chosen = app->get_subcommands(); !chosen.empty();) {
        command += ' ' + chosen.front()->get_name();
        chosen = chosen.front()->get_subcommands();
      }
      return command + ": " + error.what() + "\n`" + command +
             " --help` shows its flags and an example.\n";
    });
  }

  int Run(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      const int code = app_.exit(error, terminal_.out, terminal_.errors);
      constexpr int kUsageError = 2;
      return code == 0 ? 0 : kUsageError;
    }
    return run_();
  }

 private:
  void AddWriteFlags(CLI::App& command) {
    command.add_flag("--force", write_.force, "Overwrite files that were changed");
    command.add_flag("--check", write_.check,
                     "Write nothing; fail if a file is missing or would change");
  }

  void AddInit() {
    CLI::App& init = *app_.add_subcommand("init", "Start a new operator");
    init.footer(
        "Writes the project of an operator: a CMake project with a kind, a reconciler and a test;\n"
        "the CustomResourceDefinition, permissions, a Helm chart, a Dockerfile, a Makefile and "
        "CI.\n"
        "\n"
        "Example:\n"
        "  kopp init website --group example.com --kind Website");
    init.add_option("FOLDER", folder_, "The folder of the project; its name is that of the program")
        ->required();
    init.add_option("--group", project_.group, "The API group, a domain of yours: example.com")
        ->required();
    init.add_option("--kind", project_.kind, "The kind of the custom resource: Website")
        ->required();
    init.add_option("--version", project_.version, "The version of the API")->capture_default_str();
    init.add_option("--plural", project_.plural,
                    "The plural name in lower case; without it, made from the kind: websites");
    init.add_option("--namespaced", project_.namespaced,
                    "Whether objects belong to a namespace; false: to the cluster")
        ->capture_default_str();
    init.add_option("--name", project_.name,
                    "The name of the program, the chart and the image; without it, that of FOLDER");
    init.add_flag("--webhook", project_.webhook,
                  "Add webhooks, which set defaults and reject objects");
    AddWriteFlags(init);
    init.callback(
        [this] { run_ = [this] { return InitProject(folder_, project_, write_, terminal_); }; });
  }

  void AddCreateWebhook(CLI::App& create) {
    CLI::App& webhook = *create.add_subcommand("webhook", "Add webhooks for a kind");
    webhook.footer(
        "Writes a source with a defaulting and a validating function, and its tests, and prints "
        "the\n"
        "lines that you add to other files.\n"
        "\n"
        "Example:\n"
        "  kopp create webhook --kind Website");
    webhook.add_option("--kind", webhook_.kind, "The kind; needed if the project has several");
    webhook.add_option("--project", webhook_.project, "The folder of the project")
        ->capture_default_str();
    AddWriteFlags(webhook);
    webhook.callback(
        [this] { run_ = [this] { return CreateWebhook(webhook_, write_, terminal_); }; });
  }

  void AddTypes(CLI::App& gen) {
    CLI::App& types =
        *gen.add_subcommand("types", "Write C++ structs for CustomResourceDefinitions");
    types.footer(
        "Writes a header for each served version of each CustomResourceDefinition in FILE:\n"
        "structs with their field lists and the rules of the schema. The path of the header is "
        "its\n"
        "namespace: cert_manager_io/v1/certificate.hpp.\n"
        "\n"
        "Example:\n"
        "  kubectl get crd certificates.cert-manager.io -o yaml | kopp gen types - -o src");
    types.add_option("FILE", types_.files, "YAML or JSON files; - is the standard input")
        ->required();
    types.add_option("-o,--output", types_.output, "The folder for the headers")
        ->capture_default_str();
    types.add_option("--namespace", types_.name_space,
                     "The C++ namespace around that of the version; without it, the API group");
    AddWriteFlags(types);
    types.callback([this] { run_ = [this] { return WriteTypes(types_, write_, terminal_); }; });
  }

  using WriteManifests = int (*)(const GenerateManifests&, const OverwriteOptions&,
                                 const Terminal&);
  void AddManifests(CLI::App& gen, const std::string& name, const char* summary,
                    const std::string& about, WriteManifests write) {
    CLI::App& command = *gen.add_subcommand(name, summary);
    command.footer(about + "\n\nExample:\n  kopp gen " + name + " build/website");
    command.add_option("PROGRAM", manifests_.program, "The program of the operator")->required();
    command.add_option("--project", manifests_.project, "The folder of the project")
        ->capture_default_str();
    AddWriteFlags(command);
    command.callback(
        [this, write] { run_ = [this, write] { return write(manifests_, write_, terminal_); }; });
  }

  void AddCompletion() {
    CLI::App& completion =
        *app_.add_subcommand("completion", "Print a script for shell completion");
    completion.footer("Example, for ~/.bashrc:\n  source <(kopp completion bash)");
    completion.add_option("SHELL", shell_, std::string(kShells))->required();
    completion.callback([this] {
      run_ = [this] {
        std::vector<CompletedCommand> commands;
        Describe(app_, "", commands);
        terminal_.out << CompletionScript(shell_, commands);
        return 0;
      };
    });
  }

  static void Describe(const CLI::App& app, const std::string& path,
                       std::vector<CompletedCommand>& commands) {
    CompletedCommand command{.path = path};
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) command.flags.push_back("--" + name);
    }
    const auto subcommands = app.get_subcommands([](const CLI::App*) { return true; });
    for (const CLI::App* each : subcommands) command.commands.push_back(each->get_name());
    if (path == " completion") command.commands = {"bash", "fish", "zsh"};
    commands.push_back(std::move(command));
    for (const CLI::App* each : subcommands)
      Describe(*each, path + ' ' + each->get_name(), commands);
  }

  const Terminal& terminal_;
  CLI::App app_{"", "kopp"};
  std::function<int()> run_{};
  OverwriteOptions write_{};
  std::filesystem::path folder_{};
  ProjectOptions project_{};
  CreateWebhookOptions webhook_{};
  GenerateTypes types_{};
  GenerateManifests manifests_{};
  std::string shell_{};
};

}  // namespace

int Run(int argc, const char* const* argv, const Terminal& terminal) {
  try {
    return CommandLine(terminal).Run(argc, argv);
  } catch (const std::exception& error) {
    terminal.errors << "kopp: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace kopp::command
