#include "faulty_feed.hpp"

#include "reads.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using testing::Fault;
using What = Fault::What;

}  // namespace

std::string Malformed(std::string_view text) {
  return std::string(text.substr(0, text.size() / 2)) + "<malformed>\n";
}

std::string FaultyFeed::Take() {
  if (ended_) return {};
  if (!met_) {
    met_ = plan_.TakeNew({Occasion::Kind::kWatch, ask_, ask_.target.ns, ask_.target.name},
                         considered_);
    if (met_) left_ = met_->bytes;
  }
  if (Met(What::kSilentWatch)) return {};
  if (Met(What::kGone)) {
    ended_ = true;
    return Gone();
  }
  std::string frames = feed_->Take();
  if (!frames.empty() && !plan_.IsEmpty()) frames = Befallen(frames);
  if (Met(What::kDropWatch)) Cut(frames);
  return frames;
}

void FaultyFeed::Cut(std::string& frames) {
  ended_ = broken_ = frames.size() >= left_;
  frames.resize(std::min(frames.size(), left_));
  left_ -= frames.size();
}

TimePoint FaultyFeed::next() const {
  return Met(What::kSilentWatch) ? TimePoint::max() : feed_->next();
}

std::string FaultyFeed::Befallen(std::string_view frames) {
  std::string told;
  while (!frames.empty()) {
    const std::string_view frame = frames.substr(0, frames.find('\n') + 1);
    frames.remove_prefix(frame.size());
    const auto fault = FaultOf(frame);
    if (!fault) {
      told += frame;
    } else if (fault->what == What::kDuplicateEvent) {
      told.append(frame).append(frame);
    } else if (fault->what == What::kMalformedBody) {
      told += Malformed(frame);
    }
  }
  return told;
}

std::optional<Fault> FaultyFeed::FaultOf(std::string_view frame) {
  const json event = json::parse(frame);
  const auto type = event.at("type").get<std::string>();
  if (type == "ERROR") return std::nullopt;
  Occasion occasion{type == "BOOKMARK" ? Occasion::Kind::kBookmark : Occasion::Kind::kEvent, ask_};
  // In a Table the object is in its only row.
  for (const char* path : {"/metadata", "/rows/0/object/metadata"}) {
    const json metadata = event.at("object").value(json::json_pointer(path), json::object());
    if (occasion.name.empty()) occasion.name = metadata.value("name", "");
    if (occasion.ns.empty()) occasion.ns = metadata.value("namespace", "");
  }
  return plan_.Take(occasion);
}

std::string FaultyFeed::Gone() const {
  const std::string since = ask_.target.query.Get("resourceVersion");
  const Refusal refusal = TooOldToWatch(since.empty() ? "0" : since, store_.version());
  return R"({"type":"ERROR","object":)" + refusal.ToJson().dump() + "}\n";
}

}  // namespace kopp::apiserver
