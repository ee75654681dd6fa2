#include "config/credential_material.hpp"

#include "config/config_input.hpp"
#include "exec_plugin.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

namespace kopp::detail {
namespace {

using ValidatePem = void (*)(std::string_view pem, const std::string& where);

// Replaces `content` by the content of `file`, unless the name of the file is empty.
template <class Content>
void ReadPemFile(const std::filesystem::path& file, const std::string& where, ValidatePem validate,
                 Content& content) {
  if (file.empty()) return;
  const std::string pem = ReadFile(file, where);
  validate(pem, where + ' ' + file.string());
  content = pem;
}

TlsSettings TlsSettingsOf(const Config& config) {
  return {.source = config.source,
          .certificate_authority = config.certificate_authority,
          .insecure_skip_tls_verify = config.insecure_skip_tls_verify,
          .client_certificate = config.client_certificate,
          .client_key = config.client_key};
}

bool HasEqualTls(const Config& a, const Config& b) {
  return a.certificate_authority == b.certificate_authority &&
         a.client_certificate == b.client_certificate && a.client_key == b.client_key;
}

}  // namespace

CredentialMaterial::CredentialMaterial(const Config& config, std::string server_name)
    : config_(config), server_name_(std::move(server_name)) {
  RequireOneCredential(config, config.source);
  if (HasPlugin()) ValidateExec(config.exec, config.source + ": exec");
  if (config.token_file.empty() && !config.token.empty()) {
    config_.token = RequireToken(config.token.Reveal(), config.source + ": token");
  }
  ReadTokenFile();
  ReadTlsFiles();
}

bool CredentialMaterial::HasFiles() const {
  const bool has_tls_files = !config_.certificate_authority_file.empty() ||
                             !config_.client_certificate_file.empty() ||
                             !config_.client_key_file.empty();
  return !config_.token_file.empty() || (has_tls_files && !server_name_.empty());
}

void CredentialMaterial::ReadTokenFile() {
  const std::string& file = config_.token_file;
  if (file.empty()) return;
  const std::string where = config_.source + ": tokenFile";
  config_.token = RequireToken(ReadFile(file, where), where + ' ' + file);
}

void CredentialMaterial::ReadTlsFiles() {
  if (server_name_.empty()) return;
  Config next = config_;
  const std::string& where = config_.source;
  ReadPemFile(next.certificate_authority_file, where + ": certificate-authority",
              ValidateCertificates, next.certificate_authority);
  ReadPemFile(next.client_certificate_file, where + ": client-certificate", ValidateCertificates,
              next.client_certificate);
  ReadPemFile(next.client_key_file, where + ": client-key", ValidateKey, next.client_key);
  Adopt(std::move(next));
}

void CredentialMaterial::RunPlugin(WallTime now, const std::stop_token& stop) {
  ExecCredential credential = RunExecPlugin(config_, now, stop);
  Config next = config_;
  next.token = std::move(credential.token);
  next.client_certificate = std::move(credential.client_certificate);
  next.client_key = std::move(credential.client_key);
  Adopt(std::move(next));
  expires_ = credential.expires;
}

void CredentialMaterial::AdoptPlugin(const CredentialMaterial& loaded) {
  Config next = config_;
  next.token = loaded.config_.token;
  next.client_certificate = loaded.config_.client_certificate;
  next.client_key = loaded.config_.client_key;
  Adopt(std::move(next), loaded);
  expires_ = loaded.expires_;
}

void CredentialMaterial::AdoptFiles(const CredentialMaterial& loaded) {
  Config next = config_;
  if (!next.token_file.empty()) next.token = loaded.config_.token;
  next.certificate_authority = loaded.config_.certificate_authority;
  if (!next.client_certificate_file.empty()) {
    next.client_certificate = loaded.config_.client_certificate;
  }
  if (!next.client_key_file.empty()) next.client_key = loaded.config_.client_key;
  Adopt(std::move(next), loaded);
}

// Uses the TLS context of `loaded` unless other credentials have changed since the copy.
void CredentialMaterial::Adopt(Config next, const CredentialMaterial& loaded) {
  if (!loaded.tls_ || !HasEqualTls(next, loaded.config_)) return Adopt(std::move(next));
  tls_ = loaded.tls_;
  config_ = std::move(next);
}

void CredentialMaterial::Adopt(Config next) {
  const bool needs_context = !server_name_.empty() && (!tls_ || !HasEqualTls(next, config_));
  if (needs_context) tls_ = std::make_shared<const TlsContext>(TlsSettingsOf(next), server_name_);
  config_ = std::move(next);
}

}  // namespace kopp::detail
