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
  existing_.erase(name);
}

void Churn::WriteLast() { CreateOrUpdate("soak-last"); }

void Churn::CreateOrUpdate(const std::string& name) {
  ++writes_;
  const std::string value(random_() % kLargeShare == 0 ? kLargeSize : 10, 'x');
  const nlohmann::json data{{"count", std::to_string(writes_)}, {"value", value}};
  const ObjectKey key{kNamespace, name};
  const ConfigMap stored =
      existing_.insert(name).second
          ? client_.Create<ConfigMap>(
                {{"metadata", {{"name", name}, {"namespace", kNamespace}}}, {"data", data}})
          : client_.Patch<ConfigMap>(key, Patch::Merge({{"data", data}}));
  last_version_ = stored.metadata.resourceVersion;
}

}  // namespace kopp::soak
