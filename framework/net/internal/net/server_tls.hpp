#pragma once

#include "net/certificate.hpp"
#include "net/http_message.hpp"

#include <memory>
#include <optional>
#include <string>

#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>

namespace kopp::detail {

/// Returns the TLS settings of a server: TLS 1.2 or later. With `required_client_ca` (PEM), the
/// handshake fails unless the client has a certificate of one of these CAs. Throws
/// boost::system::system_error if the server certificate or its key cannot be used, and ConfigError
/// if there is no client CA in the text.
[[nodiscard]] std::unique_ptr<boost::asio::ssl::context> MakeServerTls(
    const ServerCertificate& certificate,
    const std::optional<std::string>& required_client_ca = std::nullopt);
/// The same for a server that requests a client certificate and verifies it against `client_ca`
/// (PEM). A connection with an unverified certificate is accepted; see ClientCertificate::verified.
[[nodiscard]] std::unique_ptr<boost::asio::ssl::context> MakeServerTls(
    const CertificateAndKey& certificate, const std::string& client_ca);

/// Returns the certificate that the client of a session has presented.
[[nodiscard]] ClientCertificate ClientCertificateOf(SSL* session);

}  // namespace kopp::detail
