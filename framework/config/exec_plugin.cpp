#include "exec_plugin.hpp"

#include "base/base64.hpp"
#include "base/command.hpp"
#include "base/quoted.hpp"
#include "base/timestamp.hpp"
#include "config/config_input.hpp"
#include "yaml_document.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <string.h>

#include <kopp/informer/detail/response_text.hpp>
#include <kopp/informer/fields.hpp>

namespace kopp::detail {
namespace {

using End = CommandResult::End;

// A credential that has expired already is used nevertheless, as by kubectl: the clock of this
// machine may be ahead, and the server decides.
constexpr auto kShortestLifetime = std::chrono::seconds(10);

// The types of client.authentication.k8s.io; v1 and v1beta1 have the same fields.

struct ExecCluster {
  std::string server;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority_data;
  std::string proxy_url;
};
KOPP_FIELDS(ExecCluster, server, KOPP_FIELD(tls_server_name, "tls-server-name"),
            KOPP_FIELD(insecure_skip_tls_verify, "insecure-skip-tls-verify"),
            KOPP_FIELD(certificate_authority_data, "certificate-authority-data"),
            KOPP_FIELD(proxy_url, "proxy-url"))

// ExecCredential with a spec: the input of the plugin.
struct ExecRequest {
  struct Spec {
    std::optional<ExecCluster> cluster{};
    bool interactive = false;
  };
  std::string apiVersion{};
  std::string kind = "ExecCredential";
  Spec spec{};
};
KOPP_FIELDS(ExecRequest::Spec, cluster, interactive)
KOPP_FIELDS(ExecRequest, apiVersion, kind, spec)

// ExecCredential with a status: the output of the plugin. The destructor zeroes the credentials.
struct ExecResponse {
  struct Status {
    std::string token;
    std::string clientCertificateData;
    std::string clientKeyData;
    std::string expirationTimestamp;
  };
  ~ExecResponse() {
    ::explicit_bzero(status.token.data(), status.token.size());
    ::explicit_bzero(status.clientKeyData.data(), status.clientKeyData.size());
  }
  std::string apiVersion;
  std::string kind;
  Status status;
};
KOPP_FIELDS(ExecResponse::Status, token, clientCertificateData, clientKeyData, expirationTimestamp)
KOPP_FIELDS(ExecResponse, apiVersion, kind, status)

std::string ExecInfo(const Config& config) {
  ExecRequest request{.apiVersion = config.exec.api_version};
  if (config.exec.provide_cluster_info) {
    request.spec.cluster = {
        .server = config.server,
        .tls_server_name = config.tls_server_name,
        .insecure_skip_tls_verify = config.insecure_skip_tls_verify,
        .certificate_authority_data = EncodeBase64(config.certificate_authority),
        .proxy_url = std::string(config.proxy_url.Reveal())};
  }
  return Encode(request);
}

// Returns `text` in one line: its words are separated by one blank, and the other control
// characters are removed.
std::string OneLine(std::string_view text) {
  std::string line;
  bool after_blank = true;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    const bool is_control = static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    if (is_blank && !after_blank) line += ' ';
    if (!is_control && !is_blank) line += c;
    after_blank = is_blank || (is_control && after_blank);
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::string DescribeEnd(const CommandResult& result, Duration time_limit) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(time_limit).count();
  switch (result.end) {
    case End::kTimeout:
      return "was killed because it did not end within " + std::to_string(seconds) + " s";
    case End::kTooMuchOutput:
      return "was killed because it wrote more than 1 MiB";
    case End::kStopped:
      return "was killed because the program stops";
    case End::kSignaled:
      return "was killed by signal " + std::to_string(result.code);
    case End::kExited:
      break;
  }
  return "failed with exit code " + std::to_string(result.code);
}

// Returns what to do if the plugin cannot be run because of `error`, an errno.
std::string AdviceFor(int error, const ExecConfig& exec) {
  switch (error) {
    case EMFILE:
    case ENFILE:
    case EAGAIN:
    case ENOMEM:
      return "raise the limits of this process";
    case E2BIG:
      return "set provideClusterInfo to false, or use a smaller certificate-authority";
    case ENOENT:
      if (std::string hint = OneLine(exec.install_hint); !hint.empty()) return hint;
      [[fallthrough]];
    default:
      return "install it, or correct the command of users[].user.exec";
  }
}

// Runs the plugin and returns its output.
SecretString OutputOfPlugin(const Config& config, const std::string& where,
                            const std::stop_token& stop, Duration time_limit) {
  const ExecConfig& exec = config.exec;
  Command command{.arguments = {exec.command}, .variables = exec.env};
  command.arguments.insert(command.arguments.end(), exec.args.begin(), exec.args.end());
  command.variables["KUBERNETES_EXEC_INFO"] = ExecInfo(config);
  try {
    CommandResult result =
        RunCommand(command, SaturatingAdd(Clock::Real().Now(), time_limit), stop);
    if (result.end == End::kExited && result.code == 0) return std::move(result.output);
    const std::string errors = OneLine(result.errors);
    throw ConfigError(where + " " + DescribeEnd(result, time_limit) +
                      (errors.empty() ? "" : ": " + errors) +
                      "; run the command of users[].user.exec in a shell to find the cause");
  } catch (const std::system_error& error) {
    const int code = error.code().value();
    throw ConfigError(
        where + (code == ENOENT ? " does not exist" : " cannot be run: " + error.code().message()) +
        "; " + AdviceFor(code, exec));
  }
}

ExecResponse ResponseFromYaml(const std::string& text) {
  const YAML::Node root = ParseYamlDocument(text, "", "");
  const auto field = [](const YAML::Node& map, const char* key) {
    const YAML::Node value = map && map.IsMap() ? map[key] : YAML::Node();
    return value && value.IsScalar() ? value.Scalar() : std::string();
  };
  const YAML::Node status = root.IsMap() ? root["status"] : YAML::Node();
  return {.apiVersion = field(root, "apiVersion"),
          .kind = field(root, "kind"),
          .status = {.token = field(status, "token"),
                     .clientCertificateData = field(status, "clientCertificateData"),
                     .clientKeyData = field(status, "clientKeyData"),
                     .expirationTimestamp = field(status, "expirationTimestamp")}};
}

// Decodes JSON or YAML, with or without a byte order mark, as kubectl does.
ExecResponse DecodeResponse(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && text[first] == '{';
  return is_json ? Decode<ExecResponse>(text) : ResponseFromYaml(std::string(text));
}

// Returns nullopt if the output cannot be decoded. The texts of the errors may contain a part of
// it.
std::optional<ExecResponse> TryDecodeResponse(std::string_view output) {
  try {
    return DecodeResponse(output);
  } catch (const DecodeError&) {
    return std::nullopt;
  } catch (const ConfigError&) {  // of YAML
    return std::nullopt;
  }
}

// Returns why text that cannot be decoded was rejected. Contains no part of the text.
std::string DescribeText(std::string_view output) {
  if (output.find_first_not_of(" \t\r\n") == std::string_view::npos) return "it printed nothing";
  if (DescribeBody(output).starts_with(kHtmlPage)) return "it printed an HTML page";
  return "its output is not valid, or has other text around the credential";
}

// Returns why the output was rejected, and what to do. `response` is the decoded output. Contains
// no part of the output, except a known version.
std::string ExplainRejection(std::string_view output, const std::optional<ExecResponse>& response) {
  constexpr std::array<std::string_view, 3> kVersions{"client.authentication.k8s.io/v1",
                                                      "client.authentication.k8s.io/v1beta1",
                                                      "client.authentication.k8s.io/v1alpha1"};
  const bool is_credential = response && response->kind == "ExecCredential";
  if (is_credential && std::ranges::count(kVersions, response->apiVersion) != 0) {
    return "it returned one of " + response->apiVersion +
           "; correct apiVersion in users[].user.exec, or update the plugin";
  }
  const bool is_object = response && !response->kind.empty();
  return (is_object ? "it printed another kind of object" : DescribeText(output)) +
         "; run the command of users[].user.exec in a shell to see its output";
}

ExecResponse ParseResponse(const SecretString& output, const std::string& api_version,
                           const std::string& where) {
  auto response = TryDecodeResponse(output.Reveal());
  if (response && response->kind == "ExecCredential" && response->apiVersion == api_version) {
    return *std::move(response);
  }
  throw ConfigError(where + " did not return an ExecCredential of " + api_version + ": " +
                    ExplainRejection(output.Reveal(), response));
}

// Parses an expiration timestamp. WallTime ends in the year 2262: a time outside its range becomes
// its first or last second.
std::optional<WallTime> ParseExpiration(std::string_view text) {
  using std::chrono::seconds;
  constexpr auto kFirst = std::chrono::ceil<seconds>(WallTime::min());
  constexpr auto kLast = std::chrono::floor<seconds>(WallTime::max());
  const auto expires = ParseTimestamp(text);
  if (!expires) return std::nullopt;
  return std::clamp(*expires, kFirst, kLast);
}

}  // namespace

ExecCredential RunExecPlugin(const Config& config, WallTime now, const std::stop_token& stop,
                             Duration time_limit) {
  const std::string where =
      config.source + ": the credential plugin " + Quoted(config.exec.command);
  const SecretString output = OutputOfPlugin(config, where, stop, time_limit);
  const ExecResponse response = ParseResponse(output, config.exec.api_version, where);
  const auto& [token, certificate, key, expiration] = response.status;

  ExecCredential credential{.client_certificate = certificate, .client_key = key};
  if (!token.empty()) credential.token = RequireToken(token, where);
  if (certificate.empty() != key.empty() || (token.empty() && key.empty())) {
    throw ConfigError(where + " returned no usable credential: it needs a token, or a client " +
                      "certificate and its key; check whether its user is logged in");
  }
  if (!key.empty()) {
    ValidateCertificates(certificate, where + ": clientCertificateData");
    ValidateKey(key, where + ": clientKeyData");
  }
  if (expiration.empty()) return credential;
  const auto expires = ParseExpiration(expiration);
  if (!expires) {
    throw ConfigError(where + " returned a credential with an invalid expiration time " +
                      Quoted(expiration) + "; update the plugin");
  }
  credential.expires = std::max(*expires, now + kShortestLifetime);
  return credential;
}

}  // namespace kopp::detail
