#include "churn.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>

namespace kopp::soak {
namespace {

constexpr const char* kNamespace = "default";
constexpr std::uint64_t kObjectNames = 300;
// Most objects are small. A large one takes several frames and reads.
constexpr std::uint64_t kLargeShare = 50;  // one of so many
constexpr std::size_t kLargeSize = 200'000;

}  // namespace

void Churn::Write() {
  const std::string name = "soak-" + std::to_string(random_() % kObjectNames);
  const bool remove = random_() % 3 == 0;
  if (!remove || !existing_.contains(name)) return CreateOrUpdate(name);
  ++writes_;
  client_.Delete<ConfigMap>({kNamespace, name});
  Log("DELETED", existing_.extract(name).mapped());
}

void Churn::WriteLast() { CreateOrUpdate("soak-last"); }

void Churn::CreateOrUpdate(const std::string& name) {
  ++writes_;
  const std::string value(random_() % kLargeShare == 0 ? kLargeSize : 10, 'x');
  const nlohmann::json data{{"count", std::to_string(writes_)}, {"value", value}};
  const bool exists = existing_.contains(name);
  const ConfigMap stored =
      exists ? client_.Patch<ConfigMap>({kNamespace, name}, Patch::Merge({{"data", data}}))
             : client_.Create<ConfigMap>(
                   {{"metadata", {{"name", name}, {"namespace", kNamespace}}}, {"data", data}});
  Log(exists ? "MODIFIED" : "ADDED", stored.metadata);
  existing_.insert_or_assign(name, stored.metadata);
  last_version_ = stored.metadata.resourceVersion;
}

void Churn::Log(const std::string& type, const ObjectMeta& metadata) {
  log_.Write({{"write", type}, {"object", ToJson(metadata)}});
}

}  // namespace kopp::soak
