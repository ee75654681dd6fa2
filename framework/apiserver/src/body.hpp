#pragma once

#include "exchange.hpp"
#include "resource.hpp"
#include "status.hpp"
#include "write_options.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

// The objects that clients send, read. Each function throws a Refusal, in the words of the real
// server, unless it says otherwise.

namespace kopp::apiserver {

/// The most bytes of a body.
constexpr std::size_t kMaxBody = 3 << 20;
[[nodiscard]] Refusal TooLarge(const std::string& why);
/// It has more than kMaxBody.
[[nodiscard]] Refusal BodyTooLarge();
void BoundBody(const Ask& ask);

/// A body that is written as an object is JSON or YAML.
void CheckMediaType(const Ask& ask);

/// An object, without apiVersion and kind. `warnings` gets what was passed over.
[[nodiscard]] nlohmann::json ReadObject(const Ask& ask, const Resource& resource,
                                        const WriteOptions& options, Warnings& warnings);

/// An object that the server made of a patch, likewise; its problems are those of the patch.
[[nodiscard]] nlohmann::json ReadPatched(nlohmann::json object, const Resource& resource,
                                         const WriteOptions& options, Warnings& warnings);

/// Tells of what is passed over: by adding it to `warnings`, or by std::invalid_argument where the
/// client wants it so.
void Report(const std::vector<std::string>& problems, const WriteOptions& options,
            Warnings& warnings);

}  // namespace kopp::apiserver
