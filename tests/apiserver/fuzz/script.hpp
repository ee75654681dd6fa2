#pragma once

#include "exchange.hpp"

#include <string_view>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp::apiserver::fuzz {

/// What a client does next: it asks, or lets time pass.
struct Step {
  Ask ask{};
  Duration wait{};  ///< where it is not 0, nothing is asked
};

/// Requests in a row, as a person writes them down: lines of "###" stand between them, an empty
/// line before a body. The headers are optional.
///
///     POST /api/v1/namespaces/default/configmaps
///     Content-Type: application/yaml
///     Accept: application/json
///     User-Agent: kubectl/v1.34
///
///     metadata: {name: a}
///     ###
///     WAIT 60
///     ###
///     GET /api/v1/configmaps?watch=true
///
/// They come to the server as HTTP does; what is none is left out. Any bytes are a script; those
/// behind the first 20 steps are nobody's.
[[nodiscard]] std::vector<Step> ReadScript(std::string_view text);

}  // namespace kopp::apiserver::fuzz
