#pragma once

#include "kept.hpp"
#include "server.hpp"

#include <memory>
#include <string>
#include <string_view>

#include <kopp/transport.hpp>

namespace kopp::detail {

class HttpConnection;

/// Calls and streams over our own sockets, with Boost.Beast's parser.
///
/// A call takes the connection that was put back last, and is made by the calling thread alone.
/// Every stream has a connection of its own.
class BeastTransport final : public Transport {
 public:
  explicit BeastTransport(std::shared_ptr<Server> server);
  ~BeastTransport() override;

  Response Call(const Request& request, std::stop_token stop) override;
  [[nodiscard]] Response Call(const Request& request, TimePoint deadline,
                              const std::stop_token& stop);
  std::unique_ptr<Stream> Open(const Request& request, std::stop_token stop) override;

 private:
  [[nodiscard]] std::unique_ptr<HttpConnection> Connect(TimePoint deadline,
                                                        const std::stop_token& stop);
  [[nodiscard]] std::unique_ptr<HttpConnection> ConnectTo(const Address& address,
                                                          TimePoint deadline,
                                                          const std::stop_token& stop);
  [[nodiscard]] std::unique_ptr<HttpConnection> TakeKept();
  [[nodiscard]] Response Exchange(std::unique_ptr<HttpConnection>& connection,
                                  std::string_view bytes, TimePoint deadline,
                                  const std::stop_token& stop);
  [[nodiscard]] std::string Serialize(const Request& request);

  std::shared_ptr<Server> server_;
  Kept<HttpConnection> kept_;
};

}  // namespace kopp::detail
