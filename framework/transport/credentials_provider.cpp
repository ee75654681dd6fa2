#include "credentials_provider.hpp"

#include "http_client_messages.hpp"
#include "net/transport_failure.hpp"
#include "renewal_schedule.hpp"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace kopp::detail {
namespace {

// A file system that hangs delays the destruction of a provider by this time.
constexpr Duration kStopTimeout = std::chrono::seconds(1);

// Calls `load` and returns the text of its exception, or "" if there is none.
std::string ErrorOf(const std::function<void()>& load) {
  try {
    load();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

// The error of the last renewal from one source. Reports each error once.
class RenewalProblem {
 public:
  // `error` is empty if the renewal succeeded.
  void Set(const std::string& error) {
    if (error == error_) return;
    error_ = error;
    reported_ = false;
  }
  // Returns the error if it has not been reported before, else "".
  std::string Report() { return std::exchange(reported_, true) ? "" : error_; }

  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::string error_;
  bool reported_ = true;
};

std::string JoinErrors(const std::string& first, const std::string& second) {
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

}  // namespace

// Owns the credentials, and renews them in threads that share the ownership: the thread that reads
// the files may outlive the provider if the file system hangs.
class CredentialsProvider::Renewer : public std::enable_shared_from_this<Renewer> {
 public:
  Renewer(const Config& config, const std::string& server_name, const TransportOptions& options,
          const RenewalGrace& grace)
      : options_(options),
        grace_(grace),
        material_(config, server_name),
        schedule_(material_.HasFiles(), material_.HasPlugin(), options.clock.Now()) {
    if (!material_.HasPlugin()) current_ = MakeCredentials();
  }

  std::shared_ptr<const Credentials> Get(TimePoint deadline, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    StartIfDue();
    if (running_.plugin || running_.files) WaitForRenewal(lock, deadline, stop);
    if (!HasUsableCredentials()) ThrowNoCredentials(stop);
    auto credentials = current_;
    const std::string warning = JoinErrors(plugin_problem_.Report(), file_problem_.Report());
    lock.unlock();
    if (!warning.empty() && options_.on_warning) {
      options_.on_warning("cannot renew credentials, using the previous ones: " + warning);
    }
    return credentials;
  }

  void Invalidate(const std::shared_ptr<const Credentials>& credentials) {
    const std::lock_guard lock(mutex_);
    if (credentials == current_) schedule_.Reject();
  }

  // Blocks until no plugin runs, and up to kStopTimeout until no file is read. Then the threads
  // have ended, except one that still reads a file: a thread that ends while the process exits
  // would use OpenSSL while OpenSSL frees its global state.
  void Stop() {
    stop_plugin_.request_stop();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !running_.plugin; });
    const bool files_done = changed_.wait_until(
        lock, SaturatingAdd(Clock::Real().Now(), kStopTimeout), [this] { return !running_.files; });
    lock.unlock();
    if (plugin_thread_.joinable()) plugin_thread_.join();
    if (!files_done) {
      file_thread_.detach();
    } else if (file_thread_.joinable()) {
      file_thread_.join();
    }
  }

 private:
  void StartIfDue();
  [[nodiscard]] bool HasUsableCredentials() const {
    return schedule_.HasUsableCredentials(options_.clock.WallNow());
  }
  void WaitForRenewal(std::unique_lock<std::mutex>& lock, TimePoint deadline,
                      const std::stop_token& stop);
  [[noreturn]] void ThrowNoCredentials(const std::stop_token& stop) const;
  void StartThread(bool Renewal::*part, std::thread& thread, void (Renewer::*renew)(),
                   RenewalProblem& problem);
  void RunPlugin();
  void ReadFiles();
  [[nodiscard]] CredentialMaterial CopyMaterial();
  void Finish(bool Renewal::*part);
  [[nodiscard]] std::shared_ptr<const Credentials> MakeCredentials() const;

  const TransportOptions options_;
  const RenewalGrace grace_;
  std::stop_source stop_plugin_;

  std::mutex mutex_;  // guards the members below
  std::condition_variable_any changed_;
  CredentialMaterial material_;  // the threads load with a copy
  RenewalSchedule schedule_;
  std::shared_ptr<const Credentials> current_;  // null until the plugin has succeeded
  Renewal running_;                             // each part has its own thread
  std::thread plugin_thread_;
  std::thread file_thread_;
  TimePoint plugin_grace_end_;  // of the running part, on the real clock
  TimePoint file_grace_end_;
  RenewalProblem plugin_problem_;
  RenewalProblem file_problem_;
};

void CredentialsProvider::Renewer::StartIfDue() {
  const auto due = schedule_.Start(options_.clock.Now(), options_.clock.WallNow(), running_);
  if (!due) return;
  const TimePoint now = Clock::Real().Now();
  if (due->plugin) {
    plugin_grace_end_ = SaturatingAdd(now, grace_.plugin);
    StartThread(&Renewal::plugin, plugin_thread_, &Renewer::RunPlugin, plugin_problem_);
  }
  if (due->files) {
    file_grace_end_ = SaturatingAdd(now, grace_.files);
    StartThread(&Renewal::files, file_thread_, &Renewer::ReadFiles, file_problem_);
  }
}

// Requires the lock. `thread` has called Finish, or was never started.
void CredentialsProvider::Renewer::StartThread(bool Renewal::*part, std::thread& thread,
                                               void (Renewer::*renew)(), RenewalProblem& problem) {
  if (thread.joinable()) thread.join();  // does not block: the thread takes no lock after Finish
  try {
    thread = std::thread([self = shared_from_this(), renew] { (self.get()->*renew)(); });
    running_.*part = true;
  } catch (const std::system_error& error) {
    problem.Set(std::string("cannot start a thread: ") + error.what());
  }
}

void CredentialsProvider::Renewer::WaitForRenewal(std::unique_lock<std::mutex>& lock,
                                                  TimePoint deadline, const std::stop_token& stop) {
  const bool must_wait = !HasUsableCredentials();
  const TimePoint plugin_end = must_wait ? deadline : std::min(deadline, plugin_grace_end_);
  changed_.wait_until(lock, stop, plugin_end, [this] { return !running_.plugin; });
  const TimePoint file_end = std::min(deadline, file_grace_end_);
  changed_.wait_until(lock, stop, file_end, [this] { return !running_.files; });
}

void CredentialsProvider::Renewer::ThrowNoCredentials(const std::stop_token& stop) const {
  if (stop.stop_requested()) throw failure::Cancelled();
  const std::string& error = plugin_problem_.error();
  if (running_.plugin) throw failure::CredentialPluginTimeout();
  throw failure::NoCredentials(error.empty() ? "the credential of the plugin has expired" : error);
}

// Requires the lock.
void CredentialsProvider::Renewer::Finish(bool Renewal::*part) {
  running_.*part = false;
  changed_.notify_all();
}

CredentialMaterial CredentialsProvider::Renewer::CopyMaterial() {
  const std::lock_guard lock(mutex_);
  return material_;
}

// Runs in a thread of its own.
void CredentialsProvider::Renewer::RunPlugin() {
  CredentialMaterial loaded = CopyMaterial();
  std::string error =
      ErrorOf([&] { loaded.RunPlugin(options_.clock.WallNow(), stop_plugin_.get_token()); });
  const std::lock_guard lock(mutex_);
  if (error.empty()) error = ErrorOf([&] { material_.AdoptPlugin(loaded); });
  plugin_problem_.Set(error);
  if (error.empty()) {
    schedule_.FinishPlugin(material_.expires());
    current_ = MakeCredentials();
  } else {
    schedule_.FailPlugin();
  }
  Finish(&Renewal::plugin);
}

// Runs in a thread of its own.
void CredentialsProvider::Renewer::ReadFiles() {
  CredentialMaterial loaded = CopyMaterial();
  const std::string token_error = ErrorOf([&] { loaded.ReadTokenFile(); });
  const std::string tls_error = ErrorOf([&] { loaded.ReadTlsFiles(); });
  const std::lock_guard lock(mutex_);
  const std::string error = ErrorOf([&] { material_.AdoptFiles(loaded); });
  if (current_) current_ = MakeCredentials();
  file_problem_.Set(JoinErrors(JoinErrors(token_error, tls_error), error));
  Finish(&Renewal::files);
}

std::shared_ptr<const Credentials> CredentialsProvider::Renewer::MakeCredentials() const {
  return std::make_shared<const Credentials>(
      Credentials{.tls = material_.tls(), .authorization = AuthorizationHeader(material_.token())});
}

CredentialsProvider::CredentialsProvider(const Config& config, const std::string& server_name,
                                         const TransportOptions& options, const RenewalGrace& grace)
    : renewer_(std::make_shared<Renewer>(config, server_name, options, grace)) {}

CredentialsProvider::~CredentialsProvider() { renewer_->Stop(); }

std::shared_ptr<const Credentials> CredentialsProvider::Get(TimePoint deadline,
                                                            const std::stop_token& stop) {
  return renewer_->Get(deadline, stop);
}

void CredentialsProvider::Invalidate(const std::shared_ptr<const Credentials>& credentials) {
  renewer_->Invalidate(credentials);
}

}  // namespace kopp::detail
