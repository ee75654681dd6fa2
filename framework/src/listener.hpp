#pragma once

#include "bind_address.hpp"
#include "quoted.hpp"
#include "socket.hpp"

#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include <kopp/config.hpp>

// How servers of ours come to listen.
namespace kopp::detail {

/// Has `acceptor` listen at `endpoint`, where another one may have listened a moment ago.
inline boost::system::error_code Listen(boost::asio::ip::tcp::acceptor& acceptor,
                                        const boost::asio::ip::tcp::endpoint& endpoint,
                                        bool both_families) {
  using boost::asio::ip::tcp;
  boost::system::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (error) return error;
  TuneSocket(acceptor.native_handle());
  acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && both_families) acceptor.set_option(boost::asio::ip::v6_only(false), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
  if (!error) acceptor.non_blocking(true, error);
  return error;
}

inline std::string ListeningAdvice(const boost::system::error_code& error) {
  if (error == boost::asio::error::address_in_use) {
    return "; another program listens there: end it, or choose another port";
  }
  if (error == boost::asio::error::access_denied) {
    return "; ports below 1024 need rights of their own: choose a higher one";
  }
  if (error == boost::system::errc::address_not_available) {
    return "; this machine has no such address: choose one of its own, or all with :PORT";
  }
  if (error.category() == boost::asio::error::get_netdb_category()) {
    return "; write an address instead of the name";
  }
  return "";
}

/// Listens at `address`, as a BindAddress is written. Throws ConfigError, with the address and what
/// to do.
inline boost::asio::ip::tcp::acceptor ListenAt(boost::asio::io_context& io,
                                               const std::string& address) {
  using boost::asio::ip::tcp;
  const auto where = ParseBindAddress(address);
  if (!where) {
    throw ConfigError("cannot listen on " + Quoted(address) + ": " + kWriteBindAddress);
  }
  tcp::acceptor acceptor(io);
  boost::system::error_code error;
  if (where->host.empty()) {
    error = Listen(acceptor, {tcp::v6(), where->port}, true);
    if (error == boost::asio::error::address_family_not_supported) {  // a machine without IPv6
      error = Listen(acceptor, {tcp::v4(), where->port}, false);
    }
  } else {
    const auto found = tcp::resolver(io).resolve(where->host, std::to_string(where->port),
                                                 tcp::resolver::passive, error);
    if (!error) error = Listen(acceptor, found.begin()->endpoint(), false);
  }
  if (error) {
    throw ConfigError("cannot listen on " + address + ": " + error.message() +
                      ListeningAdvice(error));
  }
  return acceptor;
}

}  // namespace kopp::detail
