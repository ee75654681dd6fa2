// Runs informers through a proxy that breaks connections, while objects are created, updated and
// deleted, and records what happens for the checker:
//   soak FOLDER SECONDS SEED [KUBECONFIG]
// Writes FOLDER/truth.jsonl and FOLDER/cache.jsonl. Without KUBECONFIG it starts an API server in
// this process. The same seed gives the same writes and faults; the times differ.
#include "churn.hpp"
#include "fast_clock.hpp"
#include "fault_proxy.hpp"
#include "recorder.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <kopp/config.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp::soak {
namespace {

using namespace std::chrono_literals;

// Informers wait up to a minute after failures, and longer for a silent watch.
constexpr int kClockFactor = 20;
constexpr Duration kWriteInterval = 5ms;
constexpr Duration kMinSnapshotInterval = 100ms;
constexpr int kMaxSnapshots = 6000;  // of each informer; they are the largest part of the log
constexpr Duration kRestartInterval = 5s;
constexpr Duration kCallTimeout = 5s;  // of a list whose connection is half open
constexpr Duration kQuiescenceTimeout = 30s;

struct Arguments {
  std::filesystem::path folder;
  std::chrono::seconds duration{};
  std::uint64_t seed = 0;
  std::string kubeconfig;  // empty: an API server in this process
};

std::uint16_t PortOf(const std::string& server) {
  return static_cast<std::uint16_t>(std::stoul(server.substr(server.rfind(':') + 1)));
}

Config Through(Config config, std::uint16_t port) {
  config.server.replace(config.server.rfind(':') + 1, std::string::npos, std::to_string(port));
  return config;
}

/// The informers under test. Two run all the time, one with lists and one with streaming lists. A
/// third is restarted every few seconds, so that many first lists are checked.
class Informers {
 public:
  Informers(const Config& config, LogFile& log)
      : transport_(MakeTransport(config, {.call_timeout = kCallTimeout})),
        log_(log),
        listing_("list", *transport_, clock_, false, log),
        streaming_("watch-list", *transport_, clock_, true, log) {}

  void RecordSnapshots() {
    listing_.RecordSnapshot();
    streaming_.RecordSnapshot();
    if (restarted_) restarted_->RecordSnapshot();
  }
  void RestartOne() {
    if (restarted_) {
      restarted_.reset();
      log_.Write({{"informer", RestartedName()}, {"entry", "stopped"}});
    }
    ++restarts_;
    restarted_.emplace(RestartedName(), *transport_, clock_, restarts_ % 2 == 0, log_);
  }
  void Finish(const std::string& version) {
    const TimePoint deadline = SaturatingAdd(Clock::Real().Now(), kQuiescenceTimeout);
    listing_.Finish(version, deadline);
    streaming_.Finish(version, deadline);
    if (restarted_) restarted_->Finish(version, deadline);
  }

 private:
  [[nodiscard]] std::string RestartedName() const {
    return "restarted-" + std::to_string(restarts_);
  }

  FastClock clock_{kClockFactor};
  std::shared_ptr<Transport> transport_;
  LogFile& log_;
  RecordedInformer listing_;
  RecordedInformer streaming_;
  std::optional<RecordedInformer> restarted_;
  int restarts_ = 0;
};

void Run(const Arguments& arguments) {
  std::optional<testing::ApiServer> server;
  const Config config = arguments.kubeconfig.empty()
                            ? server.emplace().Listen()
                            : LoadConfig({.kubeconfig = arguments.kubeconfig});
  const auto transport = MakeTransport(config);
  const Client client(*transport, "soak");
  LogFile truth_log(arguments.folder / "truth.jsonl");
  LogFile cache_log(arguments.folder / "cache.jsonl");
  TruthRecorder truth(client, truth_log);
  Churn churn(client, arguments.seed, truth_log);
  FaultProxy proxy(PortOf(config.server), arguments.seed);
  Informers informers(Through(config, proxy.port()), cache_log);

  const Duration snapshot_interval =
      std::max<Duration>(kMinSnapshotInterval, arguments.duration / kMaxSnapshots);
  Clock& clock = Clock::Real();
  const TimePoint end = clock.Now() + arguments.duration;
  TimePoint next_snapshot{};
  TimePoint next_restart = clock.Now() + kRestartInterval;
  for (TimePoint now; (now = clock.Now()) < end; SleepUntil(clock, now + kWriteInterval, {})) {
    churn.Write();
    if (now >= next_snapshot) {
      informers.RecordSnapshots();
      next_snapshot = now + snapshot_interval;
    }
    if (now < next_restart) continue;
    next_restart = now + kRestartInterval;
    informers.RestartOne();
    if (!server) continue;
    churn.WriteLast();
    truth.AwaitVersion(churn.last_version());  // the recorder does not need the old versions
    server->Compact();
  }
  churn.WriteLast();
  truth.AwaitVersion(churn.last_version());
  truth.Finish();
  proxy.Heal();
  informers.Finish(churn.last_version());
  std::cout << churn.writes() << " writes; faults: " << proxy.Summary() << "\n";
}

}  // namespace
}  // namespace kopp::soak

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5) {
    std::cerr << "usage: soak FOLDER SECONDS SEED [KUBECONFIG]\n";
    return 2;
  }
  try {
    kopp::soak::Run({.folder = argv[1],
                     .duration = std::chrono::seconds(std::stoll(argv[2])),
                     .seed = std::stoull(argv[3]),
                     .kubeconfig = argc > 4 ? argv[4] : ""});
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "soak: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
