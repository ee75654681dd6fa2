#include "base/option_checks.hpp"
#include "base/quoted.hpp"
#include "base/version.hpp"
#include "beast_transport.hpp"
#include "cpprest_transport.hpp"
#include "transport/redirected_transport.hpp"
#include "transport_context.hpp"

#include <algorithm>

#include <kopp/transport.hpp>

namespace kopp {
namespace {

void ValidateOptions(const TransportOptions& options) {
  const auto is_allowed = [](char c) { return c >= ' ' && c < '\x7f'; };
  if (!std::all_of(options.user_agent.begin(), options.user_agent.end(), is_allowed)) {
    throw ConfigError("invalid user agent " + detail::Quoted(options.user_agent) +
                      ": use printable ASCII characters only");
  }
  detail::RequirePositive("TransportOptions::connect_timeout", options.connect_timeout);
  detail::RequirePositive("TransportOptions::handshake_timeout", options.handshake_timeout);
  detail::RequirePositive("TransportOptions::call_timeout", options.call_timeout);
  detail::RequirePositive("TransportOptions::max_body", options.max_body);
}

/// Returns the setting that cpprestsdk does not support, or "" if there is none.
std::string_view UnsupportedByCpprest(const Config& config,
                                      const detail::TransportContext& context) {
  if (detail::IsIpv6Address(context.endpoint.host)) return "an IPv6 address";
  if (!config.tls_server_name.empty()) return "tls-server-name";
  if (context.proxy) return "a proxy";
  if (!config.impersonate.user.empty()) return "impersonation";
  return "";
}

std::unique_ptr<Transport> MakeCpprestTransport(std::shared_ptr<detail::TransportContext> context) {
  if (detail::cpprest_factory != nullptr) return detail::cpprest_factory(std::move(context));
  throw ConfigError(
      "this program was built without cpprestsdk; use --http-transport=beast, or link "
      "kopp::cpprest");
}

}  // namespace

constinit detail::CpprestFactory detail::cpprest_factory = nullptr;

std::string UserAgent(std::string_view program, std::string_view version) {
#if defined(__x86_64__)
  constexpr std::string_view kArchitecture = "amd64";
#elif defined(__aarch64__)
  constexpr std::string_view kArchitecture = "arm64";
#else
  constexpr std::string_view kArchitecture = "unknown";
#endif
  std::string text(program);
  text.append("/").append(version.empty() ? "unknown" : version);
  return text.append(" (linux/").append(kArchitecture).append(") kopp/").append(detail::Version());
}

std::unique_ptr<Transport> MakeTransport(const Config& config, const TransportOptions& options) {
  ValidateOptions(options);
  auto context = std::make_shared<detail::TransportContext>(config, options);
  bool use_cpprest = options.calls == TransportOptions::Calls::kCppRest;
  const std::string_view unsupported = UnsupportedByCpprest(config, *context);
  if (use_cpprest && !unsupported.empty()) {
    use_cpprest = false;
    if (options.on_warning) {
      options.on_warning("cpprestsdk does not support " + std::string(unsupported) +
                         ", so calls use Boost.Beast");
    }
  }
  if (use_cpprest) return MakeCpprestTransport(std::move(context));
  return std::make_unique<detail::BeastTransport>(std::move(context));
}

std::unique_ptr<Transport> detail::MakeRedirectedTransport(const Config& config,
                                                           const Endpoint& address,
                                                           const TransportOptions& options) {
  ValidateOptions(options);
  return std::make_unique<BeastTransport>(
      std::make_shared<TransportContext>(config, options, &address));
}

}  // namespace kopp
