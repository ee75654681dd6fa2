// Ten years of the certificates of webhooks: three replicas, which crash and whose clocks differ.
#include "webhook/certificate_issuer_fixture.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <stop_token>

#include <kopp/transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

/// Passes calls on to a server. Calls a function before and after each write.
class WriteHooks final : public Transport {
 public:
  explicit WriteHooks(Transport& server) : server_(server) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    const bool is_write = request.method != "GET";
    if (is_write && before) before();
    ApiResponse response = server_.Call(request, std::move(stop));
    if (is_write && after) after();
    return response;
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    return server_.Open(request, std::move(stop));
  }

  std::function<void()> before;
  std::function<void()> after;

 private:
  Transport& server_;
};

/// A replica of the operator. Its clock differs from that of the API servers.
struct Replica {
  testing::FakeClock clock;
  std::optional<CertificateIssuer> issuer{};
  std::vector<detail::Certificate> served{};  // the chain that it has read last
};

/// The CAs of the configuration.
struct TrustedAuthorities {
  WallTime since{};
  std::string pem{};
  std::vector<detail::Certificate> authorities{};
};

class CertificateLifeTest : public CertificateIssuerTest {
 protected:
  static constexpr Duration kMaxApiServerDelay = 2min - 1s;

  CertificateLifeTest() {
    for (std::size_t i = 0; i < replicas_.size(); ++i) Restart(i);
    transport_.before = [this] { BeforeWrite(); };
    transport_.after = [this] { AfterWrite(); };
  }

  /// Starts a replica, which has no memory of earlier steps.
  void Restart(std::size_t index) {
    CertificateIssuerOptions options = IssuerOptions(replicas_[index].clock);
    options.lifetimes.authority = std::chrono::years(1);  // 15 CAs in ten years
    replicas_[index].issuer.emplace(std::move(options));
  }
  void ReadSecret(std::size_t index) {
    if (const auto secret = StoredSecret()) {
      replicas_[index].served = detail::ReadCertificates(secret->data.at("tls.crt").data);
    }
  }
  void Advance(Duration step) {
    clock_.Advance(step);
    for (Replica& replica : replicas_) replica.clock.Advance(step);
  }

  /// One write in three crashes before it is sent, and one in three after it, and another replica
  /// becomes the leader. Before one in two, the leader is paused for minutes, in which another
  /// replica is the leader.
  void BeforeWrite() {
    if (random_() % 2 == 0) ReconcileBeside((leader_ + 1) % 3);
    if (random_() % 3 == 0) throw TransportError(TransportError::Kind::kBroken, "crash");
  }
  void AfterWrite() {
    Observe();
    if (random_() % 3 == 0) throw TransportError(TransportError::Kind::kBroken, "crash");
  }
  void ReconcileBeside(std::size_t other) {
    for (int step = 0; step < 4; ++step) {
      try {
        replicas_[other].issuer->Reconcile(client_, true);
      } catch (const ApiError& error) {
        if (!IsConflict(error)) throw;
      }
      ReadSecret(other);
      Observe();
      Advance(1min);
    }
  }
  /// Remembers the CAs that API servers know, and calls each replica.
  void Observe() {
    if (std::string pem = CaBundle(); ca_bundles_.empty() || ca_bundles_.back().pem != pem) {
      auto authorities = detail::ReadCertificates(pem);
      ca_bundles_.push_back({clock_.WallNow(), std::move(pem), std::move(authorities)});
    }
    ReadSecret(0);  // the fastest replica
    if (!is_installed_) return;
    ++changes_;
    for (int call = 0; call < kCombinations; ++call) Call(call);
  }

  static bool IsConflict(const ApiError& error) {
    return error.IsConflict() || error.IsAlreadyExists();
  }

  /// The leader does all that is due. Returns the time until its next step.
  Duration Lead() {
    for (int steps = 0; steps < 100; ++steps) {
      const std::size_t leader = leader_;
      Replica& replica = replicas_[leader];
      try {
        const auto state = replica.issuer->Reconcile(Client(transport_), true);
        if (state.next > replica.clock.WallNow()) return state.next - replica.clock.WallNow();
      } catch (const TransportError&) {
        Restart(leader);
        leader_ = (leader + 1) % 3;
      } catch (const ApiError& error) {
        if (!IsConflict(error)) throw;
      }
    }
    throw std::logic_error("the next step is always due");
  }
  void Follow() {
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      if (i != leader_) replicas_[i].issuer->Reconcile(client_, false);
    }
  }

  static constexpr int kCombinations = 3 * 2 * 3;
  /// A call of one of the replicas by an API server that sees changes at once or late, and whose
  /// clock is right or up to 29 minutes wrong.
  void Call(int combination) {
    ++calls_;
    const Replica& replica = replicas_[static_cast<std::size_t>(combination % 3)];
    const bool is_late = combination / 3 % 2 == 1;
    const Duration skew = (combination / 6 - 1) * Duration(29min);
    const WallTime seen_until = clock_.WallNow() - (is_late ? kMaxApiServerDelay : Duration());
    const auto seen =
        std::ranges::find_if(ca_bundles_.rbegin(), ca_bundles_.rend(),
                             [&](const auto& bundle) { return bundle.since <= seen_until; });
    ASSERT_NE(seen, ca_bundles_.rend());
    const std::string problem = detail::WhyRejected(replica.served, seen->authorities,
                                                    {"webhooks.shop.svc"}, clock_.WallNow() + skew);
    if (!problem.empty()) ++rejected_;
    EXPECT_EQ(problem, "") << "day " << (clock_.WallNow() - start_) / 24h << ", replica "
                           << combination % 3 << (is_late ? ", late" : "") << ", clock "
                           << skew / 1min;
  }

  const WallTime start_ = clock_.WallNow();
  std::array<Replica, 3> replicas_{{{.clock = testing::FakeClock(start_)},
                                    {.clock = testing::FakeClock(start_ - 30min)},
                                    {.clock = testing::FakeClock(start_ + 30min)}}};
  WriteHooks transport_{server_.transport()};
  std::vector<TrustedAuthorities> ca_bundles_;  // the oldest first
  bool is_installed_ = false;
  std::size_t leader_ = 0;
  std::mt19937 random_{1};
  int changes_ = 0;
  int calls_ = 0;
  int rejected_ = 0;
};

TEST_F(CertificateLifeTest, NoCallIsRejectedInTenYears) {
  Lead();
  for (std::size_t i = 0; i < replicas_.size(); ++i) ReadSecret(i);
  Advance(5min);
  is_installed_ = true;

  for (int day = 0; clock_.WallNow() < start_ + std::chrono::years(10) && rejected_ == 0; ++day) {
    if (day % 10 == 0) {
      Duration next = Lead();
      for (int step = 0; step < 100 && next < 10min; ++step, next = Lead()) Advance(next);
      EXPECT_EQ(next, 10min);
      ReadSecret(1);
    }
    if (day % 20 == 0) ReadSecret(2);  // the slowest replica
    if (day % 30 == 0) Follow();
    Call(day % kCombinations);
    Advance(24h);
  }

  EXPECT_GT(calls_, 3650);
  EXPECT_GT(changes_, 60);  // a certificate is used for 60 days, a CA for 8 months
  EXPECT_EQ(detail::ReadCertificates(CaBundle()).size(), 1);
}

}  // namespace
}  // namespace kopp
