#include "http/http_message.hpp"

#include "json/schema_names.hpp"
#include "schema/utf8.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <utility>

namespace kopp::apiserver {
namespace {

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

constexpr std::size_t kMaxAuditId = 64;  // as in kube-apiserver

/// Returns an IMF-fixdate (RFC 9110): "Mon, 02 Jan 2006 15:04:05 GMT".
std::string HttpDate(WallTime time) {
  using namespace std::chrono;
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<seconds>(time - day));
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT",
                kDays.at(weekday(day).c_encoding()), unsigned{date.day()},
                kMonths.at(unsigned{date.month()} - 1), int{date.year()},
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

/// Returns a quoted-string (RFC 9110), without the control characters that no header may contain.
std::string QuotedString(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') continue;
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string ToLower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  return text;
}

Impersonation ReadImpersonation(const detail::HttpMessage& message) {
  constexpr std::string_view kExtra = "impersonate-extra-";
  Impersonation impersonation;
  for (const auto& field : message) {
    const std::string name = ToLower(std::string(View(field.name_string())));
    const std::string value = ToValidUtf8(std::string(View(field.value())));
    if (name == "impersonate-user" && impersonation.user.empty()) {
      impersonation.user = value;
    } else if (name == "impersonate-uid" && impersonation.uid.empty()) {
      impersonation.uid = value;
    } else if (name == "impersonate-group") {
      impersonation.groups.push_back(value);
    } else if (name.starts_with(kExtra)) {
      const std::string key = PercentDecode(name.substr(kExtra.size()), false);
      impersonation.extra[ToValidUtf8(key)].push_back(value);
    }
  }
  return impersonation;
}

}  // namespace

ServerRequest ReadServerRequest(detail::HttpMessage& message) {
  using detail::HeaderOf;
  return {.method = std::string(View(message.method_string())),
          .target = ParseRequestInfo(detail::OriginForm(View(message.target()))),
          .body = std::move(message.body()),
          .content_type = HeaderOf(message, "Content-Type"),
          .accept = HeaderOf(message, "Accept"),
          .user_agent = HeaderOf(message, "User-Agent"),
          .audit_id = HeaderOf(message, "Audit-ID").substr(0, kMaxAuditId),
          .impersonation = ReadImpersonation(message)};
}

detail::OutgoingResponse FormatHeaders(const ServerResponse& response, const std::string& audit_id,
                                       WallTime now) {
  detail::OutgoingResponse outgoing{.status = response.status};
  const auto add = [&outgoing](std::string_view name, std::string_view value) {
    outgoing.headers.append(name).append(": ").append(value).append("\r\n");
  };
  if (!audit_id.empty()) add("Audit-Id", audit_id);
  add("Cache-Control", "no-cache, private");
  if (!response.content_type.empty()) add("Content-Type", response.content_type);
  if (response.retry_after) add("Retry-After", std::to_string(*response.retry_after));
  for (const std::string& warning : response.warnings) {
    add("Warning", "299 - " + QuotedString(warning));
  }
  add("Date", HttpDate(now));
  return outgoing;
}

WatchBody::WatchBody(Store& store, std::string prefix, std::unique_ptr<WatchResponse> watch,
                     std::optional<std::size_t> cut_after, Callbacks callbacks)
    : callbacks_(std::move(callbacks)),
      prefix_(std::move(prefix)),
      watch_(std::move(watch)),
      remaining_(cut_after),
      listener_(store, watch_->storage_resource(), [this] {
        if (!wake_requested_.exchange(true)) callbacks_.wake();
      }) {}

std::string WatchBody::Take() {
  wake_requested_ = false;
  std::string bytes = std::exchange(prefix_, {}) + watch_->ReadFrames();
  aborted_ = watch_->ended() && watch_->aborted();
  if (!remaining_) return bytes;
  if (bytes.size() >= *remaining_) {
    bytes.resize(*remaining_);
    aborted_ = true;
  }
  *remaining_ -= bytes.size();
  return bytes;
}

}  // namespace kopp::apiserver
