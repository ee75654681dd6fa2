#include "faults/faulty_watch.hpp"

#include "handlers/read_handler.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using testing::Fault;
using Type = Fault::Type;

}  // namespace

std::string MakeMalformed(std::string_view text) {
  return std::string(text.substr(0, text.size() / 2)) + "<malformed>\n";
}

std::string FaultyWatch::ReadFrames() {
  if (ended_) return {};
  if (!fault_) {
    fault_ = plan_.MatchNewer(
        {FaultContext::Kind::kWatch, request_, request_.target.ns, request_.target.name},
        last_fault_number_);
    if (fault_) bytes_left_ = fault_->bytes;
  }
  if (HasFault(Type::kSilentWatch)) return {};
  if (HasFault(Type::kGone)) {
    ended_ = true;
    return GoneEvent();
  }
  std::string frames = watch_->ReadFrames();
  if (!frames.empty() && !plan_.IsEmpty()) frames = ApplyEventFaults(frames);
  if (HasFault(Type::kDropWatch)) Truncate(frames);
  return frames;
}

void FaultyWatch::Truncate(std::string& frames) {
  ended_ = aborted_ = frames.size() >= bytes_left_;
  frames.resize(std::min(frames.size(), bytes_left_));
  bytes_left_ -= frames.size();
}

TimePoint FaultyWatch::wake_time() const {
  return HasFault(Type::kSilentWatch) ? TimePoint::max() : watch_->wake_time();
}

std::string FaultyWatch::ApplyEventFaults(std::string_view frames) {
  std::string output;
  while (!frames.empty()) {
    const std::string_view frame = frames.substr(0, frames.find('\n') + 1);
    frames.remove_prefix(frame.size());
    const auto fault = MatchEvent(frame);
    if (!fault) {
      output += frame;
    } else if (fault->type == Type::kDuplicateEvent) {
      output.append(frame).append(frame);
    } else if (fault->type == Type::kMalformedBody) {
      output += MakeMalformed(frame);
    }
  }
  return output;
}

std::optional<Fault> FaultyWatch::MatchEvent(std::string_view frame) {
  const json event = json::parse(frame);
  const auto type = event.at("type").get<std::string>();
  if (type == "ERROR") return std::nullopt;
  FaultContext context{
      type == "BOOKMARK" ? FaultContext::Kind::kBookmark : FaultContext::Kind::kEvent, request_};
  // A Table event has the object in its only row.
  for (const char* path : {"/metadata", "/rows/0/object/metadata"}) {
    const json metadata = event.at("object").value(json::json_pointer(path), json::object());
    if (context.name.empty()) context.name = metadata.value("name", "");
    if (context.ns.empty()) context.ns = metadata.value("namespace", "");
  }
  return plan_.Match(context);
}

std::string FaultyWatch::GoneEvent() const {
  const std::string version = request_.target.query.Get("resourceVersion");
  const StatusError error = TooOldToWatch(version.empty() ? "0" : version, store_.version());
  return R"({"type":"ERROR","object":)" + error.ToJson().dump() + "}\n";
}

}  // namespace kopp::apiserver
