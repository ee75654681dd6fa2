#include "webhook/certificate_rotation.hpp"

#include "net/certificate.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr const char* kHost = "webhooks.shop.svc";

WebhookCertificates NextOf(const CertificateStep& step) {
  return step.next ? *step.next : WebhookCertificates{};
}

/// Fixture with a rotation whose certificates live for 90 days and whose CAs for 5 years.
class CertificateRotationTest : public ::testing::Test {
 protected:
  /// Does all steps that are due while all configurations trust the CAs; returns their reasons.
  std::vector<std::string> Advance(WallTime to) {
    now_ = to;
    std::vector<std::string> reasons;
    CertificateStep step = Next();
    for (; step.next; step = Next()) {
      reasons.push_back(step.reason);
      stored_ = *step.next;
    }
    return reasons;
  }
  /// The next step if the configurations have trusted the CAs long enough.
  CertificateStep Next() { return rotation_.Next(stored_, 2min, now_); }
  /// The next step if a configuration does not trust the CAs.
  CertificateStep NextUntrusted() { return rotation_.Next(stored_, std::nullopt, now_); }

  [[nodiscard]] std::vector<detail::Certificate> Authorities() const {
    return detail::ReadCertificates(stored_.authorities);
  }
  [[nodiscard]] std::string WhyRejected(WallTime at, const std::string& host = kHost) const {
    return detail::WhyRejected(detail::ReadCertificates(stored_.certificate), Authorities(), {host},
                               at);
  }

  const WallTime start_{1'700'000'000s};
  WallTime now_ = start_;
  const CertificateRotation rotation_{{kHost, "webhooks.shop"}};
  WebhookCertificates stored_;
};

TEST_F(CertificateRotationTest, TheFirstStepIssuesACaAndACertificateForAllHosts) {
  const CertificateStep step = NextUntrusted();

  EXPECT_TRUE(step.is_urgent);
  EXPECT_EQ(step.reason, "there are no certificates");
  stored_ = NextOf(step);
  EXPECT_EQ(Authorities().size(), 1);
  EXPECT_EQ(WhyRejected(now_), "");
  EXPECT_EQ(WhyRejected(now_, "webhooks.shop"), "");
  EXPECT_THAT(WhyRejected(now_, "other.shop.svc"), HasSubstr("it is not for other.shop.svc"));
  EXPECT_EQ(WhyRejected(now_ - 1h), "");  // for an API server whose clock is slow
  EXPECT_EQ(NextUntrusted().next, std::nullopt);
}

TEST_F(CertificateRotationTest, ACertificateIsRenewedAfterTwoThirdsOfItsLifeByTheSameCa) {
  Advance(start_);
  const WebhookCertificates first = stored_;

  EXPECT_THAT(Next().at, start_ + 60 * 24h);
  EXPECT_THAT(Advance(start_ + 60 * 24h - 1s), ::testing::IsEmpty());
  EXPECT_THAT(Advance(start_ + 60 * 24h),
              ::testing::ElementsAre("the certificate is due for renewal"));

  EXPECT_EQ(stored_.authorities, first.authorities);
  EXPECT_NE(stored_.certificate, first.certificate);
  EXPECT_NE(stored_.key, first.key);
  EXPECT_EQ(WhyRejected(now_), "");
}

/// Fixture in which the CA is due for renewal, and the certificate is not.
class AuthorityRotationTest : public CertificateRotationTest {
 protected:
  AuthorityRotationTest() {
    Advance(start_);
    const WallTime due = start_ + std::chrono::seconds(std::chrono::years(5)) * 2 / 3;
    Advance(due - 1s);  // renews the certificate
    now_ = due;
    first_ = stored_;
  }
  WebhookCertificates first_;
};

TEST_F(AuthorityRotationTest, ANewCaIsTrustedBeforeItIssues) {
  const CertificateStep step = NextUntrusted();

  EXPECT_FALSE(step.is_urgent);
  EXPECT_EQ(step.reason, "the CA is due for renewal");
  stored_ = NextOf(step);
  EXPECT_THAT(stored_.authorities, ::testing::EndsWith(first_.authorities));
  EXPECT_EQ(Authorities().size(), 2);
  EXPECT_EQ(stored_.certificate, first_.certificate);
}

TEST_F(AuthorityRotationTest, TheNewCaIssuesWhenAllApiServersTrustIt) {
  stored_ = NextOf(NextUntrusted());

  EXPECT_EQ(NextUntrusted().next, std::nullopt);
  const auto step = rotation_.Next(stored_, 2min - 1s, now_);
  EXPECT_EQ(step.next, std::nullopt);
  EXPECT_EQ(step.at, now_ + 1s);
  stored_ = NextOf(rotation_.Next(stored_, 2min, now_));

  EXPECT_NE(stored_.certificate, first_.certificate);
  EXPECT_EQ(WhyRejected(now_), "");
  std::vector<detail::Certificate> newest = Authorities();
  newest.pop_back();
  EXPECT_EQ(
      detail::WhyRejected(detail::ReadCertificates(stored_.certificate), newest, {kHost}, now_),
      "");
}

TEST_F(AuthorityRotationTest, TheOldCaIsRemovedWhenItsLastCertificateHasExpired) {
  const WallTime created = now_;
  EXPECT_EQ(Advance(now_).size(), 2);

  Advance(created + 90 * 24h - 1s);
  EXPECT_EQ(Authorities().size(), 2);
  EXPECT_THAT(Advance(created + 90 * 24h),
              ::testing::ElementsAre("all certificates of the old CA have expired"));

  EXPECT_EQ(Authorities().size(), 1);
  EXPECT_EQ(WhyRejected(now_), "");
}

TEST_F(AuthorityRotationTest, AnExpiredCertificateIsReplacedEvenIfTheNewCaIsNotTrusted) {
  stored_ = NextOf(NextUntrusted());
  now_ += 91 * 24h;

  const CertificateStep step = NextUntrusted();

  EXPECT_TRUE(step.is_urgent);
  EXPECT_THAT(step.reason, HasSubstr("certificate has expired"));
  stored_ = NextOf(step);
  EXPECT_EQ(WhyRejected(now_), "");
}

/// A Secret whose content cannot be used, and the reason.
struct Damage {
  const char* name;
  void (*apply)(WebhookCertificates& stored, const WebhookCertificates& other);
  const char* reason;
  bool is_urgent;         // whether the API server rejects the certificate
  int authorities_after;  // of the next state
};

class DamagedCertificatesTest : public CertificateRotationTest,
                                public ::testing::WithParamInterface<Damage> {};

TEST_P(DamagedCertificatesTest, AreReplacedWithoutLosingWhatCanBeUsed) {
  Advance(start_);
  const WebhookCertificates undamaged = stored_;
  GetParam().apply(stored_, NextOf(rotation_.Next({}, std::nullopt, now_)));

  const CertificateStep step = NextUntrusted();

  EXPECT_THAT(step.reason, HasSubstr(GetParam().reason));
  EXPECT_EQ(step.is_urgent, GetParam().is_urgent);
  stored_ = NextOf(step);
  EXPECT_EQ(stored_.certificate == undamaged.certificate, !GetParam().is_urgent);
  EXPECT_EQ(Authorities().size(), GetParam().authorities_after);
  EXPECT_EQ(WhyRejected(now_), "");
  EXPECT_FALSE(NextUntrusted().is_urgent);
}

using Stored = WebhookCertificates;
INSTANTIATE_TEST_SUITE_P(
    , DamagedCertificatesTest,
    ::testing::Values(
        Damage{"CertificateCut",
               [](Stored& stored, const Stored&) { stored.certificate.resize(60); },
               "tls.crt has no certificate that can be read", true, 1},
        Damage{"CertificateEmpty", [](Stored& stored, const Stored&) { stored.certificate = ""; },
               "tls.crt has no certificate that can be read", true, 1},
        Damage{"CertificateForeign",
               [](Stored& stored, const Stored& other) {
                 stored.certificate = other.certificate;
                 stored.key = other.key;
               },
               "tls.crt is not valid: ", true, 1},
        Damage{"KeyForeign", [](Stored& stored, const Stored& other) { stored.key = other.key; },
               "tls.key is not the key of tls.crt", true, 1},
        Damage{"KeyGarbage", [](Stored& stored, const Stored&) { stored.key = "garbage"; },
               "tls.key is not the key of tls.crt", true, 1},
        Damage{
            "AuthorityKeyForeign",
            [](Stored& stored, const Stored& other) { stored.authority_key = other.authority_key; },
            "ca.key is not the key of ca.crt", false, 2},
        Damage{"AuthorityKeyEmpty",
               [](Stored& stored, const Stored&) { stored.authority_key = ""; },
               "ca.key is not the key of ca.crt", false, 2},
        Damage{"AuthorityCut",
               [](Stored& stored, const Stored&) { stored.authorities.resize(100); },
               "ca.crt has no certificate that can be read", true, 1},
        Damage{"AuthorityForeign",
               [](Stored& stored, const Stored& other) {
                 stored.authorities = other.authorities;
                 stored.authority_key = other.authority_key;
               },
               "tls.crt is not valid: ", true, 1},
        Damage{"AuthorityIsNoCa",
               [](Stored& stored, const Stored&) {
                 stored.authorities = stored.certificate;
                 stored.authority_key = stored.key;
               },
               "the certificate in ca.crt cannot issue certificates", false, 2}),
    [](const auto& damage) { return damage.param.name; });

TEST_F(CertificateRotationTest, CertificatesOfAClockThatWasAheadAreReplaced) {
  Advance(start_ + std::chrono::years(10));
  now_ = start_;

  const CertificateStep step = NextUntrusted();

  EXPECT_TRUE(step.is_urgent);
  EXPECT_THAT(step.reason, HasSubstr("the clock may have been wrong"));
  stored_ = NextOf(step);
  EXPECT_EQ(WhyRejected(now_), "");
}

TEST_F(CertificateRotationTest, AClockThatWasAheadForAWhileLosesNoCa) {
  Advance(start_);
  const std::string first = stored_.authorities;

  now_ = start_ + std::chrono::years(10);
  stored_ = NextOf(NextUntrusted());

  EXPECT_THAT(stored_.authorities, ::testing::EndsWith(first));
}

TEST_F(CertificateRotationTest, AClockThatJumpsAgainAndAgainDoesNotFillTheSecret) {
  for (int i = 0; i < 10; ++i) {
    Advance(start_ + std::chrono::years(10));
    Advance(start_);
  }

  EXPECT_LE(Authorities().size(), 4);
  EXPECT_EQ(WhyRejected(now_), "");
}

TEST_F(CertificateRotationTest, DamagedKeysDoNotDropTheCaOfTheCertificateInUse) {
  Advance(start_);
  const std::string certificate = stored_.certificate;
  for (int i = 0; i < 6; ++i) {
    stored_.authority_key = "";
    stored_ = NextOf(NextUntrusted());
  }

  EXPECT_EQ(stored_.certificate, certificate);
  EXPECT_EQ(WhyRejected(now_), "");
}

TEST_F(CertificateRotationTest, ARenewalBecomesUrgentBeforeTheCertificateExpires) {
  Advance(start_);

  now_ = start_ + 75 * 24h - 1s;
  EXPECT_FALSE(NextUntrusted().is_urgent);
  now_ = start_ + 75 * 24h;
  EXPECT_TRUE(NextUntrusted().is_urgent);
}

TEST_F(CertificateRotationTest, AnotherServiceGetsACertificateOfTheSameCa) {
  Advance(start_);
  const std::string authorities = stored_.authorities;
  const CertificateRotation renamed({"other.shop.svc"});

  const CertificateStep step = renamed.Next(stored_, std::nullopt, now_);

  EXPECT_TRUE(step.is_urgent);
  EXPECT_THAT(step.reason, HasSubstr("it is not for other.shop.svc"));
  stored_ = NextOf(step);
  EXPECT_EQ(stored_.authorities, authorities);
  EXPECT_EQ(WhyRejected(now_, "other.shop.svc"), "");
}

}  // namespace
}  // namespace kopp
