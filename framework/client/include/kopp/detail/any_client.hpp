#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/client_options.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/patch.hpp>
#include <kopp/pod_logs.hpp>
#include <kopp/read_your_writes.hpp>
#include <kopp/scale.hpp>
#include <kopp/transport.hpp>
#include <kopp/watch.hpp>

namespace kopp {

class Client;
class WriteListener;
struct ClientWrite;

namespace detail {
struct CallTracing;
class OwnedUids;
struct FormerFieldManager;

template <ApiObject T>
std::vector<T> DecodeAll(const std::vector<std::string>& texts) {
  std::vector<T> objects;
  for (const std::string& text : texts) objects.push_back(Decode<T>(text));
  return objects;
}
}  // namespace detail

/// The type-erased implementation of Client and DynamicClient, which document the calls: sends the
/// requests, and returns the bodies of the responses.
class AnyClient {
 public:
  /// The response to a write.
  struct Written {
    std::string text;
    bool report = false;     // to the observer
    bool is_object = false;  // of the kind, not of a subresource with a kind of its own
  };

  AnyClient(Transport& transport, std::string field_manager, std::stop_token stop);

  [[nodiscard]] std::optional<std::string> Get(const Kind& kind, const ObjectKey& key,
                                               const GetOptions& options) const;
  [[nodiscard]] std::vector<std::string> List(const Kind& kind, const Selector& selector,
                                              const ListOptions& options) const;
  /// Reads a page of a list, and prepares `options` for the next page.
  [[nodiscard]] kopp::ListPage<std::string> ReadPage(const Kind& kind, const Selector& selector,
                                                     ListOptions& options) const;
  [[nodiscard]] AnyWatcher Watch(const Kind& kind, AnyHttpSource::Decoder decode, Selector selector,
                                 const WatchOptions& options) const;
  [[nodiscard]] PodLogStream PodLogs(const ObjectKey& key, const PodLogOptions& options) const;

  // Writes of JSON, and of text that Encode() has written.
  [[nodiscard]] Written Create(const Kind& kind, const nlohmann::json& object,
                               const WriteOptions& options) const;
  [[nodiscard]] Written CreateEncoded(const Kind& kind, const std::string& object,
                                      const WriteOptions& options) const;
  [[nodiscard]] Written Update(const Kind& kind, const nlohmann::json& object,
                               const WriteOptions& options) const;
  [[nodiscard]] Written UpdateEncoded(const Kind& kind, const std::string& object,
                                      const WriteOptions& options) const;
  [[nodiscard]] Written Patch(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch,
                              const WriteOptions& options) const;
  [[nodiscard]] Written Apply(const Kind& kind, const nlohmann::json& object,
                              const ApplyOptions& options) const;
  [[nodiscard]] Written ApplyEncoded(const Kind& kind, const std::string& object,
                                     const ApplyOptions& options) const;
  [[nodiscard]] Written ApplyStatusEncoded(const Kind& kind, const ObjectMeta& metadata,
                                           const std::string& status, ApplyOptions options) const;
  /// Decodes the object in the response to a write, and reports it.
  template <ApiObject T>
  [[nodiscard]] T Decoded(const Written& written) const {
    T object{};
    DecodeWritten(T::kKind, written, &object, [](std::string_view text, void* to) {
      auto& typed = *static_cast<T*>(to);
      if constexpr (detail::HasFieldList<T>) {
        detail::DecodeText(text, &typed, KoppFields(&typed));  // a move is slow to compile
      } else {
        typed = Decode<T>(text);
      }
      return static_cast<const ObjectMeta*>(&typed.metadata);
    });
    return object;
  }
  /// Reports the object in the response to a write, and returns the response.
  [[nodiscard]] const std::string& Reported(const Kind& kind, const Written& written) const;

  bool Delete(const Kind& kind, const ObjectKey& key, const DeleteOptions& options) const;
  void DeleteAllOf(const Kind& kind, const Selector& selector, const DeleteOptions& options) const;
  [[nodiscard]] std::optional<Scale> GetScale(const Kind& kind, const ObjectKey& key) const;
  Scale UpdateScale(const Kind& kind, const Scale& scale, const WriteOptions& options) const;

  static WriteOptions OfStatus(WriteOptions options) {
    options.subresource = "status";
    return options;
  }

 private:
  friend class Client;  // sets the defaults of its copies
  friend Client WithWriteListener(const Client& client, std::shared_ptr<WriteListener> listener);
  /// The object of a write.
  struct Target {
    ObjectKey key;
    std::string resource_version;  // which the object must have; empty: any
  };
  struct Body : Target {
    std::string text;
    /// The controller of an object that has neither uid nor resourceVersion.
    std::optional<OwnerReference> controller = {};
  };
  [[nodiscard]] Written Write(const Kind& kind, const Target& target, ApiRequest request,
                              const WriteOptions& options, std::string_view force = {}) const;
  [[nodiscard]] Written WriteNew(const Kind& kind, Body body, const WriteOptions& options) const;
  [[nodiscard]] Written WriteExisting(const Kind& kind, Body body,
                                      const WriteOptions& options) const;
  [[nodiscard]] Written WriteApplied(const Kind& kind, Body body,
                                     const ApplyOptions& options) const;
  [[nodiscard]] std::string ReadOwned(const Kind& kind, const Body& body) const;
  [[nodiscard]] Written WriteOwned(const Kind& kind, Body& body, const WriteOptions& options,
                                   const std::function<Written(std::string)>& send) const;
  [[nodiscard]] Written ApplyAndTakeOver(const Kind& kind, const Target& target,
                                         const ApiRequest& request, const WriteOptions& options,
                                         std::string_view force) const;
  [[nodiscard]] std::optional<std::string> ReadMetadata(const Kind& kind,
                                                        const ObjectKey& key) const;
  [[nodiscard]] Written ApplyAsAny(const Kind& kind, const Target& target,
                                   const ApiRequest& request, const WriteOptions& options,
                                   std::string_view force) const;
  void DecodeWritten(const Kind& kind, const Written& written, void* object,
                     const ObjectMeta* (*decode)(std::string_view text, void* to)) const;
  void ReportWrites(const Kind& kind,
                    const std::function<std::vector<WrittenObject>()>& decode) const;
  [[nodiscard]] std::string DeleteBody(const DeleteOptions& options) const;
  [[nodiscard]] ApiResponse Send(const ApiRequest& request) const;
  [[nodiscard]] std::string Call(const ApiRequest& request) const;
  [[nodiscard]] std::string CallWrite(const ApiRequest& request, bool dry_run,
                                      ClientWrite write) const;

  [[nodiscard]] std::string NamespaceFor(const Kind& kind, const std::string& ns) const;
  [[nodiscard]] ObjectKey KeyFor(const Kind& kind, const ObjectKey& key) const {
    return {NamespaceFor(kind, key.ns), key.name};
  }
  [[nodiscard]] Body BodyOf(const Kind& kind, std::string_view subresource,
                            const nlohmann::json& object) const;
  [[nodiscard]] Body BodyOfEncoded(const Kind& kind, std::string_view subresource,
                                   const std::string& object) const;

  Transport* transport_;
  std::string field_manager_;
  std::shared_ptr<const std::vector<detail::FormerFieldManager>> former_;  // null: none
  std::stop_token stop_;
  std::string namespace_;  // see InNamespace; empty: any
  FieldValidation field_validation_ = FieldValidation::kWarn;
  bool dry_run_ = false;
  WriteObserver* observer_ = nullptr;                   // null: writes are not reported
  std::shared_ptr<WriteListener> listener_;             // null: none
  std::shared_ptr<const detail::CallTracing> tracing_;  // null: no spans
  std::shared_ptr<detail::OwnedUids> owned_uids_;
};

}  // namespace kopp
