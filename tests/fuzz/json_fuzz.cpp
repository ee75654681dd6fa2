#include "targets.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/discovery.hpp>
#include <kopp/http_source.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer/detail/json_splitter.hpp>
#include <kopp/informer/fields.hpp>
#include <kopp/kinds.hpp>

namespace kopp::fuzz {

/// Has a member of each type that KOPP_FIELDS decodes and encodes, except RawJson.
struct EachType {
  bool flag = false;
  std::int8_t tiny = 0;
  std::int64_t number = 0;
  std::uint64_t natural = 0;
  float ratio = 0;
  double real = 0;
  std::string text = {};
  std::optional<std::string> maybe = {};
  std::vector<std::int32_t> list = {};
  std::map<std::string, std::string> map = {};
  std::optional<std::vector<std::map<std::string, OwnerReference>>> nested = {};
};
KOPP_FIELDS(EachType, flag, tiny, number, natural, ratio, real, text, maybe, list, map, nested)

namespace {

/// Removes and returns the next chunk of `text`.
std::string_view ConsumeChunk(std::string_view& text, std::size_t chunk_size) {
  const std::string_view chunk = text.substr(0, chunk_size);
  text.remove_prefix(chunk.size());
  return chunk;
}

/// Returns the objects and the envelope that a splitter finds, and whether it fails or completes.
std::tuple<std::vector<std::string>, std::string, bool> Split(JsonSplitter::Mode mode,
                                                              std::string_view text,
                                                              std::size_t chunk_size) {
  std::vector<std::string> objects;
  JsonSplitter splitter(mode);
  try {
    while (!text.empty()) {
      splitter.Feed(ConsumeChunk(text, chunk_size));
      while (const auto object = splitter.Next()) objects.emplace_back(object->text);
    }
  } catch (const DecodeError&) {
    return {objects, "failed", false};
  }
  return {objects, splitter.IsComplete() ? splitter.envelope() : "", splitter.IsComplete()};
}

void CheckSplitter(JsonSplitter::Mode mode, std::string_view text, std::size_t chunk_size) {
  const auto result = Split(mode, text, chunk_size);
  if (result != Split(mode, text, text.size() + 1)) {
    throw Finding("the result of the splitter depends on the size of the chunks");
  }
  for (const std::string& object : std::get<0>(result)) {
    if (!object.starts_with('{') || !object.ends_with('}')) {
      throw Finding("not an object: " + object);
    }
  }
}

/// Checks that the encoding of a decoded object is valid, and that it decodes to the same object.
template <typename View>
void CheckDecoding(std::string_view text) {
  std::string encoded;
  try {
    encoded = Encode(Decode<View>(text));
  } catch (const DecodeError&) {
    return;
  }
  if (!nlohmann::json::accept(encoded)) throw Finding("invalid JSON: " + encoded);
  const std::string again = Encode(Decode<View>(encoded));
  if (again != encoded) throw Finding(encoded + " is decoded to " + again);
}

/// A transport whose response bodies are `text`. Streams deliver it in chunks.
class ChunkTransport final : public Transport {
 public:
  ChunkTransport(std::string_view text, std::size_t chunk_size)
      : text_(text), chunk_size_(chunk_size) {}

  ApiResponse Call(const ApiRequest& /*request*/, std::stop_token /*stop*/) override {
    return {.status = 200, .body = std::string(text_)};
  }
  std::unique_ptr<Stream> Open(const ApiRequest& /*request*/, std::stop_token /*stop*/) override {
    return std::make_unique<ChunkStream>(text_, chunk_size_);
  }

 private:
  class ChunkStream final : public Stream {
   public:
    ChunkStream(std::string_view text, std::size_t chunk_size)
        : text_(text), chunk_size_(chunk_size) {}
    [[nodiscard]] const ApiResponse& head() const override { return head_; }
    Chunk Read(Duration /*limit*/) override {
      if (text_.empty()) return {.state = State::kEnd};
      return {.state = State::kBytes, .bytes = ConsumeChunk(text_, chunk_size_)};
    }

   private:
    std::string_view text_;
    std::size_t chunk_size_;
    ApiResponse head_{.status = 200};
  };

  std::string_view text_;
  std::size_t chunk_size_;
};

void CheckObject(const informer::AnyObject& object) {
  if (!object || object.metadata().name.empty()) throw Finding("an object without a name");
}

/// Calls `decode`, which may throw DecodeError only.
template <typename Function>
void DecodeOrFail(Function decode) {
  try {
    decode();
  } catch (const DecodeError&) {
    return;
  }
}

void ReadList(AnyHttpSource& source) {
  DecodeOrFail([&] {
    const auto list = source.List({}, CheckObject, {});
    if (list.resource_version.empty()) throw Finding("a list without a resourceVersion");
  });
}

void ReadWatch(AnyHttpSource& source) {
  using Type = informer::WatchItem::Type;
  const auto watch = source.Watch({.resource_version = "1"}, {});
  try {
    for (auto item = watch->Next({}); item.type != Type::kEnd; item = watch->Next({})) {
      if (item.type == Type::kEvent) CheckObject(item.object);
      if (item.type == Type::kSkipped && item.problem.empty()) throw Finding("no reason to skip");
    }
  } catch (const ApiError&) {  // an event of type ERROR
    return;
  }
}

void ReadDiscovery(Transport& transport) {
  const DiscoveryClient discovery(transport);
  DecodeOrFail([&] { static_cast<void>(discovery.Groups()); });
  DecodeOrFail([&] { static_cast<void>(discovery.Resources("apps/v1")); });
}

}  // namespace

void FuzzJson(std::string_view input) {
  if (input.empty()) return;
  const std::size_t chunk_size = 1 + static_cast<unsigned char>(input.front());
  input.remove_prefix(1);

  CheckSplitter(JsonSplitter::Mode::kDocuments, input, chunk_size);
  CheckSplitter(JsonSplitter::Mode::kListItems, input, chunk_size);
  CheckDecoding<EachType>(input);
  CheckDecoding<Deployment>(input);
  CheckDecoding<Status>(input);
  ChunkTransport transport(input, chunk_size);
  AnyHttpSource source(transport, Deployment::kKind, DecodeAny<Deployment>);
  ReadList(source);
  DecodeOrFail([&] { ReadWatch(source); });
  ReadDiscovery(transport);
}

}  // namespace kopp::fuzz
