#pragma once

#include "connection_pool.hpp"
#include "request_bytes.hpp"
#include "transport_context.hpp"

#include <memory>
#include <string_view>

#include <kopp/transport.hpp>

namespace kopp::detail {

class HttpConnection;

/// A transport that implements calls and streams with plain sockets and the HTTP parser of
/// Boost.Beast.
///
/// A call runs in the calling thread and reuses the connection that was released last. Every stream
/// has its own connection. PrepareProxyConnection describes connections through a proxy.
/// Thread-safe.
class BeastTransport final : public Transport {
 public:
  explicit BeastTransport(std::shared_ptr<TransportContext> context);
  ~BeastTransport() override;

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override;
  /// Same as above, but with a deadline of the caller. `request` must have passed CheckApiRequest.
  [[nodiscard]] ApiResponse Call(const ApiRequest& request, TimePoint deadline,
                                 const std::stop_token& stop);
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override;

 private:
  [[nodiscard]] ApiResponse CallWith(const Credentials& credentials, const ApiRequest& request,
                                     TimePoint deadline, const std::stop_token& stop);
  [[nodiscard]] std::unique_ptr<HttpConnection> Connect(const TlsContext* tls, TimePoint deadline,
                                                        const std::stop_token& stop);
  [[nodiscard]] std::unique_ptr<HttpConnection> ConnectToAny(const TlsContext* tls,
                                                             TimePoint deadline,
                                                             const std::stop_token& stop);
  [[nodiscard]] std::unique_ptr<HttpConnection> ConnectTo(const Address& address,
                                                          const TlsContext* tls, TimePoint deadline,
                                                          const std::stop_token& stop);
  [[nodiscard]] std::unique_ptr<HttpConnection> AcquirePooled(const TlsContext* tls);
  [[nodiscard]] ApiResponse Exchange(std::unique_ptr<HttpConnection>& connection,
                                     const ApiRequest& request, std::string_view bytes,
                                     TimePoint deadline, TimePoint silence_deadline,
                                     const std::stop_token& stop);
  [[nodiscard]] RequestBytes Serialize(const ApiRequest& request, const Credentials& credentials);

  std::shared_ptr<TransportContext> context_;
  ConnectionPool<HttpConnection> pool_;
};

}  // namespace kopp::detail
