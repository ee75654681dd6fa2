#include "webhook/certificate_rotation.hpp"

#include "net/certificate.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <kopp/config_error.hpp>

namespace kopp {
namespace {

using detail::Certificate;
using detail::Key;

/// Limits the size of the Secret and of each caBundle. More CAs are only stored after several
/// repairs within CertificateLifetimes::certificate.
constexpr std::size_t kMaxAuthorities = 4;

/// Certificates as OpenSSL objects. What cannot be read is empty.
struct ReadResult {
  std::vector<Certificate> authorities;
  Key authority_key;
  std::vector<Certificate> chain;
  Key key;
};

template <typename T>
T ReadOrEmpty(T (*read)(std::string_view), const std::string& pem) {
  try {
    return read(pem);
  } catch (const ConfigError&) {
    return {};
  }
}

ReadResult Read(const WebhookCertificates& stored) {
  return {.authorities = ReadOrEmpty(&detail::ReadCertificates, stored.authorities),
          .authority_key = ReadOrEmpty(&detail::ReadKey, stored.authority_key),
          .chain = ReadOrEmpty(&detail::ReadCertificates, stored.certificate),
          .key = ReadOrEmpty(&detail::ReadKey, stored.key)};
}

WallTime CreationOf(const X509* certificate) {
  return detail::ValidityOf(certificate).begin + detail::kClockTolerance;
}

Duration LifeOf(const X509* certificate) {
  return detail::ValidityOf(certificate).end - CreationOf(certificate);
}

/// Returns when a certificate is to be replaced.
WallTime DueTimeOf(const X509* certificate) {
  return CreationOf(certificate) + LifeOf(certificate) / 3 * 2;
}

/// Returns why the newest CA cannot issue certificates; "" if it can.
std::string AuthorityProblem(const ReadResult& stored, WallTime now) {
  if (stored.authorities.empty()) return "ca.crt has no certificate that can be read";
  X509* const newest = stored.authorities.front().get();
  if (!detail::IsKeyOf(newest, stored.authority_key)) return "ca.key is not the key of ca.crt";
  if (!detail::MayIssue(newest)) return "the certificate in ca.crt cannot issue certificates";
  const auto validity = detail::ValidityOf(newest);
  if (now < validity.begin) return "the CA is not valid yet: the clock may have been wrong";
  if (now >= validity.end) return "the CA has expired";
  return {};
}

/// Returns why API servers would reject the served certificate; "" if they accept it.
std::string CertificateProblem(const ReadResult& stored, const std::vector<std::string>& hosts,
                               WallTime now) {
  if (stored.chain.empty()) return "tls.crt has no certificate that can be read";
  if (!detail::IsKeyOf(stored.chain.front().get(), stored.key))
    return "tls.key is not the key of tls.crt";
  const std::string problem = detail::WhyRejected(stored.chain, stored.authorities, hosts, now);
  return problem.empty() ? "" : "tls.crt is not valid: " + problem;
}

bool IsIssuedByNewest(const ReadResult& stored) {
  return detail::IsSignedBy(stored.chain.front().get(), stored.authorities.front().get());
}

/// Returns `newest` and those of the stored CAs that are kept, as PEM: first of all the issuer of
/// the certificate that is in use.
std::string BundleOf(X509* newest, ReadResult& stored) {
  std::ranges::stable_partition(stored.authorities, [&](const Certificate& authority) {
    return !stored.chain.empty() && detail::IsSignedBy(stored.chain.front().get(), authority.get());
  });
  std::string bundle = detail::ToPem(newest);
  for (std::size_t i = 0; i < std::min(stored.authorities.size(), kMaxAuthorities - 1); ++i) {
    bundle += detail::ToPem(stored.authorities[i].get());
  }
  return bundle;
}

}  // namespace

CertificateRotation::CertificateRotation(std::vector<std::string> hosts,
                                         CertificateLifetimes lifetimes)
    : hosts_(std::move(hosts)), lifetimes_(lifetimes) {}

CertificateStep CertificateRotation::Next(const WebhookCertificates& current,
                                          std::optional<Duration> trusted_for, WallTime now) const {
  ReadResult stored = Read(current);
  const std::string certificate_problem = CertificateProblem(stored, hosts_, now);
  const bool is_usable = certificate_problem.empty();
  CertificateStep step{.is_urgent = !is_usable, .is_usable = is_usable};
  const auto issue = [&](WebhookCertificates& next, X509* authority, EVP_PKEY* authority_key) {
    const auto issued =
        detail::IssueForHosts(hosts_, authority, authority_key, lifetimes_.certificate, now);
    next.certificate = detail::ToPem(issued.certificate.get());
    next.key = detail::ToPem(issued.key.get());
  };

  const std::string authority_problem = AuthorityProblem(stored, now);
  if (!authority_problem.empty() || now >= DueTimeOf(stored.authorities.front().get())) {
    step.reason = current == WebhookCertificates{} ? "there are no certificates"
                  : !authority_problem.empty()     ? authority_problem
                  : !is_usable                     ? certificate_problem
                                                   : "the CA is due for renewal";
    const auto authority = detail::NewAuthority("kopp webhooks", lifetimes_.authority, now);
    step.next = current;
    step.next->authorities = BundleOf(authority.certificate.get(), stored);
    step.next->authority_key = detail::ToPem(authority.key.get());
    if (!is_usable) issue(*step.next, authority.certificate.get(), authority.key.get());
    return step;
  }

  X509* const newest = stored.authorities.front().get();
  const auto issue_with_newest = [&](std::string reason) {
    step.reason = std::move(reason);
    step.next = current;
    issue(*step.next, newest, stored.authority_key.get());
    return step;
  };
  if (!is_usable) return issue_with_newest(certificate_problem);
  const X509* const certificate = stored.chain.front().get();
  if (!IsIssuedByNewest(stored)) {
    const WallTime end = detail::ValidityOf(certificate).end;
    const WallTime trusted =
        trusted_for ? now + (lifetimes_.propagation - *trusted_for) : WallTime::max();
    if (now >= trusted) return issue_with_newest("all configurations trust the new CA");
    step.at = std::min(trusted, end);
    return step;
  }
  if (now >= DueTimeOf(certificate)) {
    step.is_urgent = now >= detail::ValidityOf(certificate).end - LifeOf(certificate) / 6;
    return issue_with_newest("the certificate is due for renewal");
  }

  step.at = std::min(DueTimeOf(certificate), DueTimeOf(newest));
  if (stored.authorities.size() == 1) return step;
  // The older CAs have issued nothing since the newest one was created.
  const WallTime last_expiry = CreationOf(newest) + lifetimes_.certificate;
  if (now < last_expiry) {
    step.at = std::min(step.at, last_expiry);
    return step;
  }
  step.reason = "all certificates of the old CA have expired";
  step.next = current;
  step.next->authorities = detail::ToPem(newest);
  return step;
}

}  // namespace kopp
