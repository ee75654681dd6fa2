#include "demo.hpp"

#include "groups.hpp"
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

#include <environment.hpp>
#include <unistd.h>

#include <kopp/workqueue/clock.hpp>

namespace kopp::apiserver {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr Duration kToWatch = 5s;  // some programs never do
constexpr Duration kToRest = 1s;
constexpr Duration kToEnd = 10s;

std::string BaseName(const std::string& program) { return fs::path(program).filename().string(); }

// As the shell finds it.
std::optional<fs::path> Find(const std::string& program) {
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
  std::string last;
  for (const std::string& line : lines) last += line;
  return last;
}

std::string In(const std::string& ns) { return ns.empty() || ns == "default" ? "" : " -n " + ns; }

}  // namespace

Demo::Folder::Folder() {
  std::string name = (fs::temp_directory_path() / "kopp-demo-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "cannot make the folder " + name);
  }
  path_ = name;
}

Demo::Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::optional<fs::path> Demo::ManifestsOf(const std::string& program) {
  const auto found = Find(program);
  if (!found) return std::nullopt;
  const fs::path folder = found->parent_path().parent_path() / "share/kopp" / BaseName(program);
  return fs::is_directory(folder / "demo") ? std::optional(folder / "demo") : std::nullopt;
}

std::string Demo::UserOf(const std::string& program) {
  return "system:serviceaccount:default:" + BaseName(program);
}

Demo::Demo(testing::ApiServer& server, Account& account, const Flags& flags,
           const Config& administrator, std::vector<Manifest> custom)
    : server_(server),
      account_(account),
      custom_(std::move(custom)),
      log_(flags.program_log.empty() ? folder_ / "program.log" : fs::absolute(flags.program_log)),
      begin_(Clock::Real().Now()) {
  const std::string user = UserOf(flags.program.front());
  const Config config = server.ConfigFor(user, GroupsOf(user));
  WritePrivately(folder_ / "program.kubeconfig", KubeconfigText(config, user));
  WritePrivately(folder_ / "kubeconfig", KubeconfigText(administrator, "you"));
  if (!std::ofstream(log_, std::ios::app)) {
    throw std::runtime_error("cannot write " + log_.string());
  }
  account_.Begin();
  child_ = std::make_unique<Child>(
      flags.program,
      std::map<std::string, std::string>{{"KUBECONFIG", (folder_ / "program.kubeconfig").string()}},
      log_);
}

bool Demo::Tick() {
  const TimePoint now = Clock::Real().Now();
  const bool is_loaded = loaded_ != TimePoint{};
  if (!is_loaded && (!account_.watched().empty() || now >= begin_ + kToWatch)) {
    LoadCustom();
  } else if (is_loaded && !shown_ && now >= std::max(loaded_, account_.active()) + kToRest) {
    ShowCommands();
    shown_ = true;
  }
  return account_.is_heard();
}

// Not past faults: the account is to tell of it.
void Demo::LoadCustom() {
  try {
    Load(server_.transport(), custom_);
    loaded_ = Clock::Real().Now();
  } catch (const TransportError&) {
    // The server is taken off the network. The next Tick tries again; what is loaded stays.
  }
}

void Demo::ShowCommands() {
  std::vector<std::string> kinds = account_.watched();
  const auto made = account_.made();
  if (made && std::find(kinds.begin(), kinds.end(), made->resource) == kinds.end()) {
    kinds.push_back(made->resource);
  }
  std::string listed;
  for (const std::string& kind : kinds) listed += (listed.empty() ? "" : ",") + kind;
  std::string text = "\nTry next, in another terminal; what comes of it is told here:\n";
  text += "  export KUBECONFIG=" + (folder_ / "kubeconfig").string() + '\n';
  text += "  kubectl get " + (listed.empty() ? "events" : listed) + " --all-namespaces\n";
  text += made ? "  kubectl delete " + made->resource + ' ' + made->name + In(made->ns) + '\n'
               : "  kubectl api-resources\n";
  account_.Say(text + "Ctrl-C ends and removes all of it.\n\n");
}

std::optional<int> Demo::code() {
  const auto code = child_->code();
  if (code && *code != 0) {
    std::cerr << "kopp-apiserver: the program ended with exit code " << *code << ". It said last:\n"
              << LastLines(log_);
  }
  return code;
}

void Demo::End(const Signals& signals) {
  child_->End(signals, kToEnd);
  account_.Say("\nThe demo is over.\n");
}

}  // namespace kopp::apiserver
