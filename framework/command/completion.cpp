#include "completion.hpp"

#include <stdexcept>

#include <base/quoted.hpp>

namespace kopp::command {
namespace {

using Commands = std::vector<CompletedCommand>;

std::string Words(const CompletedCommand& command) {
  std::string words;
  for (const auto* list : {&command.commands, &command.flags}) {
    for (const std::string& word : *list) words += (words.empty() ? "" : " ") + word;
  }
  return words;
}

// The cases of a shell's `case` that follow the words of the command line to the last command.
std::string PathCases(const Commands& commands) {
  std::string cases;
  for (const CompletedCommand& command : commands) {
    if (!command.path.empty())
      cases += "      \"" + command.path + "\") at=\"" + command.path + "\" ;;\n";
  }
  return cases;
}

std::string WordCases(const Commands& commands, const std::string& before,
                      const std::string& after) {
  std::string cases;
  for (const CompletedCommand& command : commands) {
    cases += "    \"" + command.path + "\") " + before + Words(command) + after + " ;;\n";
  }
  return cases;
}

std::string Bash(const Commands& commands) {
  return "# Completion for bash: source <(kopp completion bash)\n"
         "_kopp() {\n"
         "  local at= words= word\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"$at $word\" in\n" +
         PathCases(commands) +
         "    esac\n"
         "  done\n"
         "  case \"$at\" in\n" +
         WordCases(commands, "words=\"", "\"") +
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
         "}\n"
         "complete -o default -F _kopp kopp\n";
}

std::string Zsh(const Commands& commands) {
  return "#compdef kopp\n"
         "# Completion for zsh: source <(kopp completion zsh)\n"
         "_kopp() {\n"
         "  local at= word\n"
         "  for word in ${words[2,CURRENT-1]}; do\n"
         "    case \"$at $word\" in\n" +
         PathCases(commands) +
         "    esac\n"
         "  done\n"
         "  case \"$at\" in\n" +
         WordCases(commands, "compadd -- ", "") +
         "  esac\n"
         "  _files\n"
         "}\n"
         "compdef _kopp kopp\n";
}

std::string Fish(const Commands& commands) {
  std::string text =
      "# Completion for fish: kopp completion fish | source\n"
      "function __kopp_at\n"
      "  set -l at ''\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    switch \"$at $word\"\n";
  for (const CompletedCommand& command : commands) {
    if (command.path.empty()) continue;
    text += "      case '" + command.path + "'\n        set at '" + command.path + "'\n";
  }
  text +=
      "    end\n"
      "  end\n"
      "  test \"$at\" = \"$argv[1]\"\n"
      "end\n";
  for (const CompletedCommand& command : commands) {
    text +=
        "complete -c kopp -n \"__kopp_at '" + command.path + "'\" -a '" + Words(command) + "'\n";
  }
  return text;
}

}  // namespace

std::string CompletionScript(std::string_view shell, const Commands& commands) {
  if (shell == "bash") return Bash(commands);
  if (shell == "zsh") return Zsh(commands);
  if (shell == "fish") return Fish(commands);
  throw std::invalid_argument("the shell " + detail::Quoted(shell) + " is not known: write " +
                              std::string(kShells));
}

}  // namespace kopp::command
