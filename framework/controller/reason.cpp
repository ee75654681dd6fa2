#include <algorithm>
#include <new>
#include <string_view>

#include <kopp/controller/reason.hpp>

namespace kopp {
namespace {

std::string_view ReasonText(Reason::Type type) {
  switch (type) {
    case Reason::Type::kAdded:
      return "added";
    case Reason::Type::kInitialList:
      return "existed at the start";
    case Reason::Type::kUpdated:
      return "updated";
    case Reason::Type::kResync:
      return "resync";
    case Reason::Type::kDeleted:
      return "deleted";
    case Reason::Type::kEvent:
      return "event";
    case Reason::Type::kTimer:
      return "timer";
    case Reason::Type::kRetry:
      return "retry";
    case Reason::Type::kRequeueAfter:
      return "requeue_after";
    case Reason::Type::kMaxInterval:
      return "max_interval";
    case Reason::Type::kResumed:
      return "resumed";
  }
  return "unknown";
}

}  // namespace

std::string Reason::ToString() const {
  std::string text = source;
  if (!object.name.empty()) text += (text.empty() ? "" : " ") + object.ToString();
  text += text.empty() ? "" : " ";
  text += ReasonText(type);
  if (count > 1) text += " " + std::to_string(count) + " times";
  if (!old_version.empty()) text += " (" + old_version + " -> " + new_version + ")";
  return text;
}

Reason ReasonOf(const std::string& kind, const informer::KeyEvent& event) {
  Reason reason{.source = kind,
                .object = event.object.key(),
                .new_version = event.object.metadata().resourceVersion};
  switch (event.type) {
    case informer::KeyEvent::Type::kAdd:
      reason.type = event.in_initial_list ? Reason::Type::kInitialList : Reason::Type::kAdded;
      break;
    case informer::KeyEvent::Type::kUpdate:
      reason.type = event.IsResync() ? Reason::Type::kResync : Reason::Type::kUpdated;
      if (!event.IsResync()) reason.old_version = event.before->metadata().resourceVersion;
      break;
    case informer::KeyEvent::Type::kDelete:
      reason.type = Reason::Type::kDeleted;
      break;
  }
  return reason;
}

void Reasons::Add(Reason reason) noexcept {
  const auto same = std::ranges::find_if(list_, [&](const Reason& other) {
    return other.type == reason.type && other.object == reason.object &&
           other.source == reason.source;
  });
  if (same != list_.end()) {
    same->count += reason.count;
    same->new_version = std::move(reason.new_version);
    return;
  }
  const int count = reason.count;
  try {
    if (list_.size() < kMax) return list_.push_back(std::move(reason));
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): counted below
  }
  more_ += count;
}

void Reasons::Add(Reasons later) noexcept {
  for (Reason& reason : later.list_) Add(std::move(reason));
  more_ += later.more_;
}

std::string Reasons::ToString() const {
  std::string text;
  for (const Reason& reason : list_) text += (text.empty() ? "" : "; ") + reason.ToString();
  if (more_ > 0) text += "; and " + std::to_string(more_) + " more";
  return text;
}

}  // namespace kopp
