#include "transport/credentials_provider.hpp"

#include "net/http_client_messages.hpp"
#include "net/transport_failure.hpp"
#include "transport/renewal_schedule.hpp"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace kopp::detail {
namespace {

// How long a request waits for a renewal although it could use the previous credentials.
constexpr Duration kGrace = std::chrono::seconds(1);

// Calls `load` and returns the text of its exception, or "" if there is none.
std::string ErrorOf(const std::function<void()>& load) {
  try {
    load();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string JoinErrors(const std::string& first, const std::string& second) {
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

}  // namespace

// Owns the credentials, and renews them in a thread that shares the ownership: the thread may
// outlive the provider if the file system hangs.
class CredentialsProvider::Renewer : public std::enable_shared_from_this<Renewer> {
 public:
  Renewer(const Config& config, const std::string& server_name, const TransportOptions& options)
      : options_(options),
        material_(config, server_name),
        schedule_(material_.HasFiles(), material_.HasPlugin(), options.clock.Now()) {
    if (!material_.HasPlugin()) current_ = MakeCredentials();
  }

  std::shared_ptr<const Credentials> Get(TimePoint deadline, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    StartIfDue();
    if (running_) {
      const TimePoint end = HasUsableCredentials() ? std::min(deadline, grace_end_) : deadline;
      changed_.wait_until(lock, stop, end, [this] { return !running_; });
    }
    if (!HasUsableCredentials()) ThrowNoCredentials(stop);
    auto credentials = current_;
    const std::string warning = std::exchange(warning_, {});
    lock.unlock();
    if (!warning.empty() && options_.on_warning) options_.on_warning(warning);
    return credentials;
  }

  void Invalidate(const std::shared_ptr<const Credentials>& credentials) {
    const std::lock_guard lock(mutex_);
    if (credentials == current_) schedule_.Reject();
  }

  // Blocks until no plugin runs. Waits for a file only for the grace period.
  void Stop() {
    stop_plugin_.request_stop();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !running_ || !running_->plugin; });
    changed_.wait_until(lock, After(Clock::Real().Now(), kGrace), [this] { return !running_; });
  }

 private:
  void StartIfDue();
  [[nodiscard]] bool HasUsableCredentials() const {
    return schedule_.HasUsableCredentials(options_.clock.WallNow());
  }
  [[noreturn]] void ThrowNoCredentials(const std::stop_token& stop) const;
  void Renew(Renewal renewal);
  [[nodiscard]] std::string RunPlugin();
  [[nodiscard]] std::string ReadFiles();
  void Finish(const std::string& problem);
  [[nodiscard]] std::shared_ptr<const Credentials> MakeCredentials() const;

  const TransportOptions options_;
  std::stop_source stop_plugin_;
  CredentialMaterial material_;  // used by the constructor, then only by the running renewal

  std::mutex mutex_;  // guards the members below
  std::condition_variable_any changed_;
  RenewalSchedule schedule_;
  std::shared_ptr<const Credentials> current_;  // null until the plugin has succeeded
  std::optional<Renewal> running_;
  TimePoint grace_end_;       // of the running renewal, on the real clock
  std::string plugin_error_;  // of the last run
  std::string problem_;       // of the last renewal
  std::string warning_;       // `problem_` until it is passed to on_warning
};

void CredentialsProvider::Renewer::StartIfDue() {
  if (running_) return;
  running_ = schedule_.Start(options_.clock.Now(), options_.clock.WallNow());
  if (!running_) return;
  grace_end_ = After(Clock::Real().Now(), kGrace);
  try {
    std::thread([self = shared_from_this(), renewal = *running_] {
      self->Renew(renewal);
    }).detach();
  } catch (const std::system_error& error) {
    plugin_error_ = std::string("cannot start a thread: ") + error.what();
    running_.reset();
  }
}

void CredentialsProvider::Renewer::ThrowNoCredentials(const std::stop_token& stop) const {
  if (stop.stop_requested()) throw failure::Cancelled();
  if (running_) throw failure::CredentialPluginTimeout();
  throw failure::NoCredentials(plugin_error_.empty() ? "the credential of the plugin has expired"
                                                     : plugin_error_);
}

// Runs in a thread of its own.
void CredentialsProvider::Renewer::Renew(Renewal renewal) {
  std::string problem;
  if (renewal.plugin) problem = RunPlugin();
  if (renewal.files) problem = JoinErrors(problem, ReadFiles());
  Finish(problem);
}

std::string CredentialsProvider::Renewer::RunPlugin() {
  const std::string error =
      ErrorOf([this] { material_.RunPlugin(options_.clock.WallNow(), stop_plugin_.get_token()); });
  const std::lock_guard lock(mutex_);
  plugin_error_ = error;
  if (error.empty()) {
    schedule_.FinishPlugin(material_.expires());
    current_ = MakeCredentials();
  } else {
    schedule_.FailPlugin();
  }
  running_->plugin = false;
  changed_.notify_all();
  return error;
}

std::string CredentialsProvider::Renewer::ReadFiles() {
  const std::string token_error = ErrorOf([this] { material_.ReadTokenFile(); });
  const std::string tls_error = ErrorOf([this] { material_.ReadTlsFiles(); });
  const std::lock_guard lock(mutex_);
  if (current_) current_ = MakeCredentials();
  return JoinErrors(token_error, tls_error);
}

void CredentialsProvider::Renewer::Finish(const std::string& problem) {
  const std::lock_guard lock(mutex_);
  if (problem != problem_) warning_ = problem_ = problem;
  running_.reset();
  changed_.notify_all();
}

std::shared_ptr<const Credentials> CredentialsProvider::Renewer::MakeCredentials() const {
  return std::make_shared<const Credentials>(
      Credentials{.tls = material_.tls(), .authorization = AuthorizationHeader(material_.token())});
}

CredentialsProvider::CredentialsProvider(const Config& config, const std::string& server_name,
                                         const TransportOptions& options)
    : renewer_(std::make_shared<Renewer>(config, server_name, options)) {}

CredentialsProvider::~CredentialsProvider() { renewer_->Stop(); }

std::shared_ptr<const Credentials> CredentialsProvider::Get(TimePoint deadline,
                                                            const std::stop_token& stop) {
  return renewer_->Get(deadline, stop);
}

void CredentialsProvider::Invalidate(const std::shared_ptr<const Credentials>& credentials) {
  renewer_->Invalidate(credentials);
}

}  // namespace kopp::detail
