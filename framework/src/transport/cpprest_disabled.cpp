#include "transport/cpprest_transport.hpp"

// Replaces cpprest_transport.cpp in builds with KOPP_WITH_CPPREST=OFF, and in programs with
// kopp_leave_out_cpprest.
namespace kopp::detail {

// NOLINTNEXTLINE(performance-unnecessary-value-param): declared for the function that it replaces
std::unique_ptr<Transport> MakeCpprestTransport(std::shared_ptr<TransportContext>) {
  throw ConfigError(
      "this program was built without cpprestsdk; use --http-transport=beast, or rebuild kopp with "
      "-DKOPP_WITH_CPPREST=ON");
}

}  // namespace kopp::detail
