#include "system/quoted.hpp"
#include "transport/beast_transport.hpp"
#include "transport/cpprest_transport.hpp"
#include "transport/transport_context.hpp"

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

}  // namespace

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
  return text.append(" (linux/").append(kArchitecture).append(") kopp/" KOPP_VERSION);
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
  if (use_cpprest) return detail::MakeCpprestTransport(std::move(context));
  return std::make_unique<detail::BeastTransport>(std::move(context));
}

}  // namespace kopp
