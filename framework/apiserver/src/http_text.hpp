#pragma once

#include "exchange.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <kopp/workqueue/clock.hpp>

// Requests and answers as HTTP has them.
namespace kopp::apiserver {

using HttpRequest = boost::beast::http::request<boost::beast::http::string_body>;

/// Why a request that could be parsed cannot be taken, with the status to answer; none: it can.
struct Objection {
  int status = 400;
  std::string text{};
};
[[nodiscard]] std::optional<Objection> ObjectionTo(const HttpRequest& request);

/// All values of one header, with commas between; "" where it is missing. What is not ASCII has
/// become '?', so that it can stand in JSON.
[[nodiscard]] std::string HeaderOf(const HttpRequest& request, std::string_view name);

/// What is asked, by a request to which there is no objection. The body moves; the user is still to
/// be found.
[[nodiscard]] Ask ReadAsk(HttpRequest& request);

/// What an answer's head says beside the reply's own.
struct HeadOptions {
  bool keep_alive = true;  ///< another request may follow
  bool http10 = false;     ///< what the client speaks
  WallTime now{};
  std::string audit_id{};
  std::optional<std::size_t> length{};  ///< of the body; none: in chunks, or until the end
};
/// With the empty line at its end.
[[nodiscard]] std::string HeadOf(const Reply& reply, const HeadOptions& options);

/// A piece of a body of unknown length; an empty one is its end.
[[nodiscard]] std::string Chunk(std::string_view bytes);

}  // namespace kopp::apiserver
