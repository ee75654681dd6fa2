#include "demo.hpp"

#include "kubeconfig_file.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <base/environment.hpp>
#include <unistd.h>

#include <kopp/workqueue/clock.hpp>

namespace kopp::apiserver {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr Duration kWatchTimeout = 5s;  // some programs never watch
constexpr Duration kIdleTime = 1s;
constexpr Duration kStopTimeout = 10s;

std::string BaseName(const std::string& program) { return fs::path(program).filename().string(); }

// Returns the path of a program, searched in $PATH as a shell does.
std::optional<fs::path> FindExecutable(const std::string& program) {
  std::error_code error;
  if (program.find('/') != std::string::npos) {
    const fs::path path = fs::canonical(program, error);
    return error ? std::nullopt : std::optional(path);
  }
  const std::string path = detail::EnvironmentVariable("PATH").value_or("");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const fs::path found =
        fs::canonical(fs::path(path.substr(begin, end - begin)) / program, error);
    if (!error && ::access(found.c_str(), X_OK) == 0) return found;
    begin = end + 1;
  }
  return std::nullopt;
}

std::string LastLines(const fs::path& file) {
  constexpr std::size_t kLines = 10;
  std::ifstream text(file);
  std::deque<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    lines.push_back("  " + line + '\n');
    if (lines.size() > kLines) lines.pop_front();
  }
  std::string text_of_lines;
  for (const std::string& line : lines) text_of_lines += line;
  return text_of_lines;
}

std::string NamespaceFlag(const std::string& ns) {
  return ns.empty() || ns == "default" ? "" : " -n " + ns;
}

}  // namespace

Demo::TempDirectory::TempDirectory() {
  std::string name = (fs::temp_directory_path() / "kopp-demo-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "cannot create directory " + name);
  }
  path_ = name;
}

Demo::TempDirectory::~TempDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::optional<fs::path> Demo::FindDemoManifests(const std::string& program) {
  const auto found = FindExecutable(program);
  if (!found) return std::nullopt;
  const fs::path folder = found->parent_path().parent_path() / "share/kopp" / BaseName(program);
  return fs::is_directory(folder / "demo") ? std::optional(folder / "demo") : std::nullopt;
}

std::string Demo::ServiceAccountUser(const std::string& program) {
  return "system:serviceaccount:default:" + BaseName(program);
}

Demo::Demo(testing::ApiServer& server, DemoLog& demo_log, const Flags& flags,
           const Config& admin_config, std::vector<Manifest> custom_resources)
    : server_(server),
      demo_log_(demo_log),
      custom_resources_(std::move(custom_resources)),
      program_log_path_(flags.program_log.empty() ? directory_ / "program.log"
                                                  : fs::absolute(flags.program_log)),
      start_time_(Clock::Real().Now()) {
  const std::string user = ServiceAccountUser(flags.program.front());
  const Config config = server.ConfigFor(user, ServiceAccountGroups(user));
  WritePrivateFile(directory_ / "program.kubeconfig", KubeconfigText(config, user));
  WritePrivateFile(directory_ / "kubeconfig", KubeconfigText(admin_config, "you"));
  if (!std::ofstream(program_log_path_, std::ios::app)) {
    throw std::runtime_error("cannot write the program's log " + program_log_path_.string());
  }
  demo_log_.Start();
  child_ =
      std::make_unique<Child>(flags.program,
                              std::map<std::string, std::string>{
                                  {"KUBECONFIG", (directory_ / "program.kubeconfig").string()}},
                              program_log_path_);
}

bool Demo::Tick() {
  const TimePoint now = Clock::Real().Now();
  if (!custom_resources_created_at_) {
    if (!demo_log_.watched_resources().empty() || now >= start_time_ + kWatchTimeout) {
      CreateCustomResources();
    }
  } else if (!commands_printed_ &&
             now >=
                 std::max(*custom_resources_created_at_, demo_log_.last_activity()) + kIdleTime) {
    PrintCommands();
    commands_printed_ = true;
  }
  return demo_log_.is_output_open();
}

// Does not use the fault-free transport, because the demo log prints these requests.
void Demo::CreateCustomResources() {
  try {
    ApplyManifests(server_.transport(), custom_resources_);
    custom_resources_created_at_ = Clock::Real().Now();
  } catch (const TransportError&) {
    // The server is off the network. The next Tick retries, and applies all objects again.
  }
}

void Demo::PrintCommands() {
  std::vector<std::string> resources = demo_log_.watched_resources();
  const auto object = demo_log_.first_object();
  if (object &&
      std::find(resources.begin(), resources.end(), object->resource) == resources.end()) {
    resources.push_back(object->resource);
  }
  std::string list;
  for (const std::string& resource : resources) list += (list.empty() ? "" : ",") + resource;
  std::string text = "\nTry these commands in another terminal; their effects are printed here:\n";
  text += "  export KUBECONFIG=" + (directory_ / "kubeconfig").string() + '\n';
  text += "  kubectl get " + (list.empty() ? "events" : list) + " --all-namespaces\n";
  text += object ? "  kubectl delete " + object->resource + ' ' + object->name +
                       NamespaceFlag(object->ns) + '\n'
                 : "  kubectl api-resources\n";
  demo_log_.Print(text + "Ctrl-C stops the demo and removes its files.\n\n");
}

std::optional<int> Demo::ReportExit() {
  const auto code = child_->exit_code();
  if (code && *code != 0) {
    std::cerr << "kopp-apiserver: the program failed with exit code " << *code
              << ". End of its output:\n"
              << LastLines(program_log_path_);
  }
  return code;
}

void Demo::Stop(const Signals& signals) {
  child_->Terminate(signals, kStopTimeout);
  demo_log_.Print("\nThe demo has stopped.\n");
}

}  // namespace kopp::apiserver
