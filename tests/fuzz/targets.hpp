#pragma once

#include <stdexcept>
#include <string_view>

// The fuzz targets. Each processes any bytes and throws Finding if kopp handles them wrongly; an
// exception that kopp does not document is a finding, too. They use no files, no processes and,
// except for FuzzHttpResponse, which connects to itself, no network.
namespace kopp::fuzz {

/// kopp handles the input wrongly.
class Finding : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reads the input as a kubeconfig.
void FuzzKubeconfig(std::string_view input);

/// Decodes the input as objects, as a list and a watch in chunks, and as discovery documents. The
/// first byte is the size of the chunks.
void FuzzJson(std::string_view input);

/// Parses the first line of the input as a label selector and a field selector. The other lines are
/// the labels or fields of the object to match, as name=value.
void FuzzSelector(std::string_view input);

/// Receives the input as the response to an HTTP request.
void FuzzHttpResponse(std::string_view input);

/// Sends the input as a review to a defaulting, a validating and an authentication webhook.
void FuzzWebhook(std::string_view input);

}  // namespace kopp::fuzz
