#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>

namespace kopp {

using nlohmann::json;

std::optional<Unstructured> DynamicClient::Get(const ObjectKey& key,
                                               const GetOptions& options) const {
  auto text = calls_.Get(kind_, key, options);
  return text ? std::optional(Unstructured::FromResponse(std::move(*text))) : std::nullopt;
}

std::vector<Unstructured> DynamicClient::List(const Selector& selector,
                                              const ListOptions& options) const {
  std::vector<Unstructured> objects;
  for (std::string& text : calls_.List(kind_, selector, options))
    objects.push_back(Unstructured::FromResponse(std::move(text), kind_));
  return objects;
}

ListPage<Unstructured> DynamicClient::ListPage(const Selector& selector,
                                               ListOptions options) const {
  auto texts = calls_.ReadPage(kind_, selector, options);
  kopp::ListPage<Unstructured> page{
      {}, texts.continue_token, texts.remaining, texts.resource_version};
  for (std::string& text : texts.objects)
    page.objects.push_back(Unstructured::FromResponse(std::move(text), kind_));
  return page;
}

void DynamicClient::ForEach(const Selector& selector,
                            const std::function<void(Unstructured)>& visit,
                            ListOptions options) const {
  do {
    for (std::string& text : calls_.ReadPage(kind_, selector, options).objects)
      visit(Unstructured::FromResponse(std::move(text), kind_));
  } while (!options.continue_token.empty());
}

Watcher<Unstructured> DynamicClient::Watch(const Selector& selector,
                                           const WatchOptions& options) const {
  const auto decode = [kind = kind_](const JsonObject& object) -> informer::AnyObject {
    return std::make_shared<const Unstructured>(
        Unstructured::FromResponse(std::string(object.text()), kind));
  };
  return Watcher<Unstructured>(calls_.Watch(kind_, decode, selector, options));
}

Unstructured DynamicClient::Create(const json& object, const WriteOptions& options) const {
  return Written(calls_.Create(kind_, object, options));
}
Unstructured DynamicClient::Update(const json& object, const WriteOptions& options) const {
  return Written(calls_.Update(kind_, object, options));
}
Unstructured DynamicClient::UpdateStatus(const json& object, const WriteOptions& options) const {
  return Update(object, AnyClient::OfStatus(options));
}
Unstructured DynamicClient::Patch(const ObjectKey& key, const kopp::Patch& patch,
                                  const WriteOptions& options) const {
  return Written(calls_.Patch(kind_, key, patch, options));
}
Unstructured DynamicClient::PatchStatus(const ObjectKey& key, const kopp::Patch& patch,
                                        const WriteOptions& options) const {
  return Patch(key, patch, AnyClient::OfStatus(options));
}
Unstructured DynamicClient::Apply(const json& object, const ApplyOptions& options) const {
  return Written(calls_.Apply(kind_, object, options));
}
bool DynamicClient::Delete(const ObjectKey& key, const DeleteOptions& options) const {
  return calls_.Delete(kind_, key, options);
}
void DynamicClient::DeleteAllOf(const Selector& selector, const DeleteOptions& options) const {
  calls_.DeleteAllOf(kind_, selector, options);
}
std::optional<Scale> DynamicClient::GetScale(const ObjectKey& key) const {
  return calls_.GetScale(kind_, key);
}
Scale DynamicClient::UpdateScale(const Scale& scale, const WriteOptions& options) const {
  return calls_.UpdateScale(kind_, scale, options);
}

Unstructured DynamicClient::Written(const AnyClient::Written& written) const {
  return Unstructured::FromResponse(calls_.Reported(kind_, written));
}

}  // namespace kopp
