#include "registrar.hpp"

#include "custom_resources.hpp"
#include "definition_rules.hpp"
#include "definitions.hpp"
#include "managed_fields.hpp"
#include "metadata_rules.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

std::string GroupOf(const json& definition) { return definition["spec"]["group"]; }

/// What the objects of a definition are kept under.
std::string KeptAs(const json& definition) { return definition["metadata"]["name"]; }

/// All of a definition that what is served depends on.
json SourceOf(const json& definition) {
  return {{"spec", definition["spec"]},
          {"names", definition["status"]["acceptedNames"]},
          {"uid", definition["metadata"]["uid"]},
          {"terminating", IsTerminating(definition)}};
}

const Schema& SchemaOfDefinitions() { return *Schemas::BuiltIn().Find("CustomResourceDefinition"); }

}  // namespace

Registrar::Registrar(World& world, Writes& writes)
    : world_(world),
      writes_(writes),
      collector_(world),
      listener_(world.store(), kDefinitions, [this] { ++written_; }) {}

void Registrar::Follow() {
  if (settled_ == written_ && !waits_) return;
  const std::lock_guard lock(settling_);
  // What a round changes, the next one sees: a name that is free now, a definition without objects.
  do {
    const unsigned written = written_;
    JudgeAll(ReadAgain());
    for (auto& [name, known] : known_) Serve(known);
    for (const auto& [name, known] : known_) {
      if (IsTerminating(known.definition)) CleanUp(known);
    }
    settled_ = written;
  } while (settled_ != written_);
  waits_ = std::any_of(known_.begin(), known_.end(),
                       [](const auto& entry) { return IsTerminating(entry.second.definition); });
}

// Returns the groups whose definitions changed since the last time.
std::set<std::string> Registrar::ReadAgain() {
  std::set<std::string> changed;
  std::map<std::string, Known> known;
  for (auto& [key, stored] : world_.store().List(kDefinitions, "").objects) {
    Known& here = known[key.name];
    if (const auto before = known_.find(key.name); before != known_.end()) {
      here = std::move(before->second);
      known_.erase(before);
    }
    if (here.stored == stored) continue;
    here.stored = stored;
    here.definition = json::parse(stored->text);
    changed.insert(GroupOf(here.definition));
  }
  for (const auto& [name, gone] : known_) {
    changed.insert(GroupOf(gone.definition));
    if (!gone.served.is_null()) EndServing(gone.definition);
  }
  known_ = std::move(known);
  return changed;
}

// The names of one group depend on each other.
void Registrar::JudgeAll(const std::set<std::string>& groups) {
  for (const auto& [name, known] : known_) {
    if (!groups.contains(GroupOf(known.definition)) || IsTerminating(known.definition)) continue;
    std::vector<json> others;
    for (const auto& [other, rival] : known_) {
      if (other != name && GroupOf(rival.definition) == GroupOf(known.definition)) {
        others.push_back(rival.definition);
      }
    }
    json judged = Judged(known.definition, others, world_.Now());
    if (judged != known.definition) Put(known, std::move(judged));
  }
}

void Registrar::Serve(Known& known) {
  if (!IsEstablished(known.definition)) return;
  json source = SourceOf(known.definition);
  if (source == known.served) return;
  const std::string kept_as = KeptAs(known.definition);
  if (known.served.is_null() || known.served["uid"] != source["uid"]) {
    world_.store().Begin(kept_as);
  }
  known.served = std::move(source);
  world_.Serve(kept_as, Served(known.definition));
  world_.store().Wake(kept_as);
}

void Registrar::EndServing(const json& definition) {
  world_.Serve(KeptAs(definition), {});
  world_.store().Wake(KeptAs(definition));
}

// Its objects go; when none is left, it may go too.
void Registrar::CleanUp(const Known& known) {
  const std::string kept_as = KeptAs(known.definition);
  json definition = known.definition;
  if (!HasCleanup(definition)) return;
  SetCondition(definition, "Terminating", "True", "InstanceDeletionInProgress",
               "CustomResource deletion is in progress", world_.Now());
  if (definition != known.definition && !Put(known, definition)) return;
  for (const auto& resource : world_.catalog()->all()) {
    if (resource->kept_as != kept_as) continue;
    Ask ask{.method = "DELETE"};
    ask.target.group = resource->group;
    ask.target.version = resource->version;
    ask.target.plural = resource->plural;
    writes_.DeleteCollection(ask, *resource);
    break;
  }
  if (world_.store().List(kept_as, "").objects.empty()) Release({"", kept_as});
}

void Registrar::Release(const ObjectKey& key) {
  const StoredPtr seen = world_.store().Get(kDefinitions, key);
  if (seen == nullptr) return;
  const json definition = json::parse(seen->text);
  json released = WithoutCleanup(definition);
  if (!FinalizersOf(released).empty()) {
    SetCondition(released, "Terminating", "False", "InstanceDeletionCompleted",
                 "removed all instances", world_.Now());
    world_.store().Put(kDefinitions, key, seen, std::move(released), seen->attributes);
  } else if (world_.store().Remove(kDefinitions, key, seen, definition) != nullptr) {
    collector_.Follow(
        *world_.catalog()->FindKind("apiextensions.k8s.io/v1", "CustomResourceDefinition"), key,
        definition, true);
  }
}

// Returns whether nobody else was faster.
bool Registrar::Put(const Known& known, json definition) {
  const Writer writer{"kube-apiserver", "apiextensions.k8s.io/v1", "status", world_.Now()};
  const ObjectKey key{"", KeptAs(known.definition)};
  definition = Updated(known.definition, std::move(definition), SchemaOfDefinitions(), writer);
  return world_.store().Put(kDefinitions, key, known.stored, std::move(definition),
                            known.stored->attributes) != nullptr;
}

}  // namespace kopp::apiserver
