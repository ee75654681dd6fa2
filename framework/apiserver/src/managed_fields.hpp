#pragma once

#include "field_set.hpp"
#include "schema.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Who writes, as metadata.managedFields has it.
struct Writer {
  std::string manager{};
  std::string api_version{};  ///< of the object as it was sent
  std::string subresource{};  ///< "status" or "scale"; empty: the object itself
  std::string time{};         ///< now, RFC 3339
  bool has_status = false;    ///< the kind has one apart: no writer of the object owns it
};

/// An apply without `force` would change what others own.
class ApplyConflict : public std::runtime_error {
 public:
  struct Cause {
    std::string field{};  ///< ".spec.replicas"
    std::string owner{};  ///< as a message names it: "kubectl" using apps/v1 …
  };
  explicit ApplyConflict(std::vector<Cause> causes)
      : std::runtime_error("others own what is applied"), causes_(std::move(causes)) {}
  [[nodiscard]] const std::vector<Cause>& causes() const { return causes_; }

 private:
  std::vector<Cause> causes_;
};

/// `after` with the managedFields that follow from `before`, whose entries count: what the update
/// changed is the writer's, and nobody else's any more. Where `after` has one empty entry, nobody
/// owns anything.
[[nodiscard]] nlohmann::json Updated(const nlohmann::json& before, nlohmann::json after,
                                     const Schema& schema, const Writer& writer);

/// Makes of what was merged an object of its kind.
using Fit = std::function<nlohmann::json(nlohmann::json merged)>;

/// `live` after a server-side apply of `config`. What the writer applied earlier and leaves out now
/// is gone, unless others own it too. Where nothing changes, the entries keep their times. Throws
/// ApplyConflict.
[[nodiscard]] nlohmann::json Applied(const nlohmann::json& live, const nlohmann::json& config,
                                     const Schema& schema, const Fit& fit, const Writer& writer,
                                     bool force);

}  // namespace kopp::apiserver
