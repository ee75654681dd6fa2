#pragma once

#include "api/request.hpp"

#include <string_view>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp::apiserver::fuzz {

/// One step of a script: a request, or a wait.
struct Step {
  ServerRequest request{};
  Duration wait{};  ///< if not 0, the step is a wait
};

/// Parses a script of requests. Lines of "###" separate the steps, and an empty line separates the
/// headers from the body. Headers are optional.
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
/// The requests pass through the HTTP parser; steps that are not valid HTTP are skipped. Any bytes
/// are a valid script. Steps after the first 20 are ignored.
[[nodiscard]] std::vector<Step> ParseScript(std::string_view text);

}  // namespace kopp::apiserver::fuzz
