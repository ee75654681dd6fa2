#pragma once

#include "base/quoted.hpp"
#include "net/bind_address.hpp"
#include "net/socket.hpp"

#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include <kopp/config_error.hpp>

// Functions that open the listening sockets of kopp's servers.
namespace kopp::detail {

/// Opens `acceptor` and makes it listen on `endpoint`, with SO_REUSEADDR, so that a restarted
/// server can listen on the same port at once. `dual_stack`: an IPv6 socket also accepts IPv4.
inline boost::system::error_code Listen(boost::asio::ip::tcp::acceptor& acceptor,
                                        const boost::asio::ip::tcp::endpoint& endpoint,
                                        bool dual_stack) {
  using boost::asio::ip::tcp;
  boost::system::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (error) return error;
  TuneSocket(acceptor.native_handle());
  acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && dual_stack) acceptor.set_option(boost::asio::ip::v6_only(false), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
  if (!error) acceptor.non_blocking(true, error);
  return error;
}

/// Returns what the user can do about `error`, to be appended to a message; may be empty.
inline std::string ListenErrorAdvice(const boost::system::error_code& error) {
  if (error == boost::asio::error::address_in_use) {
    return "; another program listens there: end it, or choose another port";
  }
  if (error == boost::asio::error::access_denied) {
    return "; ports below 1024 require extra privileges: choose a higher port";
  }
  if (error == boost::system::errc::address_not_available) {
    return "; this machine has no such address: choose one of its own, or all with :PORT";
  }
  if (error.category() == boost::asio::error::get_netdb_category()) {
    return "; write an address instead of the name";
  }
  return "";
}

/// Listens on `address`, which ParseBindAddress parses. Blocks while a host name is resolved.
/// Throws ConfigError with a message that contains the address and advice.
inline boost::asio::ip::tcp::acceptor ListenAt(boost::asio::io_context& io,
                                               const std::string& address) {
  using boost::asio::ip::tcp;
  const auto bind_address = ParseBindAddress(address);
  if (!bind_address) {
    throw ConfigError("cannot listen on " + Quoted(address) + ": " + kBindAddressHelp);
  }
  tcp::acceptor acceptor(io);
  boost::system::error_code error;
  if (bind_address->host.empty()) {
    error = Listen(acceptor, {tcp::v6(), bind_address->port}, true);
    if (error == boost::asio::error::address_family_not_supported) {  // a machine without IPv6
      error = Listen(acceptor, {tcp::v4(), bind_address->port}, false);
    }
  } else {
    const auto resolved = tcp::resolver(io).resolve(
        bind_address->host, std::to_string(bind_address->port), tcp::resolver::passive, error);
    if (!error) error = Listen(acceptor, resolved.begin()->endpoint(), false);
  }
  if (error) {
    throw ConfigError("cannot listen on " + address + ": " + error.message() +
                      ListenErrorAdvice(error));
  }
  return acceptor;
}

}  // namespace kopp::detail
