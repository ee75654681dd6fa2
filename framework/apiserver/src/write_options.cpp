#include "write_options.hpp"

#include "body.hpp"
#include "decode.hpp"
#include "said.hpp"
#include "status.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Strictness = WriteOptions::Strictness;

constexpr std::size_t kMaxManager = 128;

/// What options belong to, in errors about them.
Resource OptionsNamed(const std::string& kind) {
  Resource resource;
  resource.group = "meta.k8s.io";
  resource.kind = kind;
  return resource;
}

void CheckManager(const Ask& ask, const Resource& options) {
  const std::string name = ask.target.query.Get("fieldManager");
  Causes causes;
  if (name.size() > kMaxManager) causes.push_back(TooLong("fieldManager", kMaxManager));
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (static_cast<unsigned char>(name[i]) >= 0x20 && name[i] != 0x7f) continue;
    std::array<char, 64> why{};
    std::snprintf(why.data(), why.size(), "invalid character U+%04X (at position %zu)",
                  static_cast<unsigned char>(name[i]), i);
    causes.push_back(InvalidValue("fieldManager", name, why.data()));
    break;
  }
  if (!causes.empty()) throw Invalid(options, "", causes);
}

bool ReadDryRun(const std::vector<std::string>& values, const Resource& options) {
  if (values.empty()) return false;
  const bool all_are_known =
      std::all_of(values.begin(), values.end(), [](const auto& each) { return each == "All"; });
  if (!all_are_known) throw Invalid(options, "", {NotSupported("dryRun", values, {"All"})});
  return true;
}

/// `orphan`: orphanDependents, the old name of the two ways.
void SetPropagation(DeleteOptions& read, const json& orphan, const Resource& options) {
  const std::string& way = read.propagation;
  if (!orphan.is_null() && !way.empty()) {
    throw Invalid(options, "",
                  {InvalidValue("propagationPolicy", way,
                                "orphanDependents and deletionPropagation cannot be both set")});
  }
  if (!way.empty() && way != "Foreground" && way != "Background" && way != "Orphan") {
    throw Invalid(
        options, "",
        {NotSupported("propagationPolicy", way, {"Foreground", "Background", "Orphan", "nil"})});
  }
  if (!orphan.is_null()) read.propagation = orphan == true ? "Orphan" : "Background";
}

DeleteOptions FromQuery(const Query& query, const Resource& options) {
  DeleteOptions read;
  read.dry_run = ReadDryRun(query.All("dryRun"), options);
  read.propagation = query.Get("propagationPolicy");
  const bool has_orphan = query.Has("orphanDependents");
  SetPropagation(read, has_orphan ? json(query.IsTrue("orphanDependents")) : json(), options);
  if (query.Has("gracePeriodSeconds")) read.grace_period = query.Integer("gracePeriodSeconds");
  return read;
}

DeleteOptions FromBody(const json& body, const Resource& options) {
  DeleteOptions read;
  std::vector<std::string> dry_run;
  for (const json& each : body.value("dryRun", json::array())) {
    dry_run.push_back(each.is_string() ? each.get<std::string>() : "");
  }
  read.dry_run = ReadDryRun(dry_run, options);
  const json preconditions = body.value("preconditions", json::object());
  read.uid = SaidText(preconditions, "uid");
  read.resource_version = SaidText(preconditions, "resourceVersion");
  read.propagation = SaidText(body, "propagationPolicy");
  SetPropagation(read, body.value("orphanDependents", json()), options);
  const json grace = body.value("gracePeriodSeconds", json());
  if (grace.is_number_integer()) read.grace_period = grace.get<std::int64_t>();
  return read;
}

json ReadBody(const Ask& ask) {
  json body;
  try {
    body = Parse(ask.body, ask.content_type);
  } catch (const std::invalid_argument& error) {
    throw Refusal(500, "",
                  std::string("couldn't get version/kind; json parse error: ") + error.what());
  }
  if (!body.is_object()) throw BadRequest("the body of a deletion is an object: DeleteOptions");
  const std::string kind = SaidText(body, "kind");
  if (kind.empty() || kind == "DeleteOptions") return body;
  throw Refusal(500, "",
                "no kind \"" + kind + "\" is registered for version \"" +
                    SaidText(body, "apiVersion") + "\" in scheme");
}

}  // namespace

WriteOptions ReadWriteOptions(const Ask& ask, const std::string& kind) {
  const Resource options = OptionsNamed(kind);
  const Query& query = ask.target.query;
  WriteOptions read;
  read.dry_run = ReadDryRun(query.All("dryRun"), options);
  read.force = query.IsTrue("force");
  CheckManager(ask, options);
  const std::string strictness = query.Get("fieldValidation");
  if (strictness == "Ignore") {
    read.strictness = Strictness::kIgnore;
  } else if (strictness == "Strict") {
    read.strictness = Strictness::kStrict;
  } else if (!strictness.empty() && strictness != "Warn") {
    throw Invalid(options, "",
                  {NotSupported("fieldValidation", strictness, {"", "Ignore", "Strict", "Warn"})});
  }
  return read;
}

void RefuseForce(const Ask& ask) {
  if (!ask.target.query.Has("force")) return;
  throw Invalid(OptionsNamed("PatchOptions"), "",
                {ForbiddenField("force", "may not be specified for non-apply patch")});
}

void RequireManager(const Ask& ask) {
  if (!ask.target.query.Get("fieldManager").empty()) return;
  throw Invalid(OptionsNamed("PatchOptions"), "",
                {Required("fieldManager", "is required for apply patch")});
}

DeleteOptions ReadDeleteOptions(const Ask& ask) {
  BoundBody(ask);
  const Resource options = OptionsNamed("DeleteOptions");
  return ask.body.empty() ? FromQuery(ask.target.query, options) : FromBody(ReadBody(ask), options);
}

}  // namespace kopp::apiserver
