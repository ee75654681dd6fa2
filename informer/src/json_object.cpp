#include "json_document.hpp"

#include <cstddef>
#include <utility>

#include <kopp/informer/json_object.hpp>

namespace kopp {

namespace ondemand = simdjson::ondemand;

struct JsonObject::State {
  ondemand::object json;
  std::string_view text = {};  // empty: not known yet
  bool decoded = false;
};

namespace {

constexpr std::string_view kWhitespace = " \t\r\n";

/// Extends the text of a member, `length` bytes from `begin`, by a comma beside it.
void ExtendByComma(std::string_view text, std::size_t& begin, std::size_t& length) {
  const auto before = text.find_last_not_of(kWhitespace, begin - 1);
  const auto after = text.find_first_not_of(kWhitespace, begin + length);
  if (text[before] == ',') {
    length += begin - before;
    begin = before;
  } else if (text[after] == ',') {
    length = after + 1 - begin;
  }
}

/// Returns a member of a watch event.
ondemand::value MemberOf(ondemand::object& event, std::string_view name) {
  auto member = event.find_field_unordered(name);
  if (member.error() != simdjson::NO_SUCH_FIELD) return member.value();
  throw DecodeError(DecodeError::Kind::kMalformed, "",
                    "a watch event has no member \"" + std::string(name) + '"');
}

}  // namespace

bool JsonObject::IsOfKind(const Kind& kind) const {
  return detail::WithDecodeErrors([&] {
    state_.json.reset().value();
    int equal = 0;
    for (auto field : state_.json) {
      const ondemand::raw_json_string key = field.key();
      const bool is_kind = detail::Equals(key, "kind");
      if (!is_kind && !detail::Equals(key, "apiVersion")) continue;
      ondemand::raw_json_string string;
      if (field.value().get_raw_json_string().get(string) != simdjson::SUCCESS) return false;
      if (!detail::Equals(string, is_kind ? kind.kind : kind.api_version)) return false;
      if (++equal == 2) return true;
    }
    return false;
  });
}

std::string_view JsonObject::text() const {
  if (state_.text.empty()) {
    detail::WithDecodeErrors([&] {
      state_.json.reset().value();
      const std::string_view text = state_.json.raw_json();
      state_.text = text.substr(0, text.find_last_not_of(kWhitespace) + 1);
    });
  }
  return state_.text;
}

std::string JsonObject::TextWithoutManagedFields(std::string_view first_members) const {
  const std::string_view all = text();
  std::size_t begin = all.size();
  std::size_t length = 0;
  detail::WithDecodeErrors([&] {
    state_.json.reset().value();
    ondemand::object metadata;
    if (state_.json.find_field("metadata").get_object().get(metadata) != simdjson::SUCCESS) return;
    for (auto field : metadata) {
      const ondemand::raw_json_string key = field.key();
      if (!detail::Equals(key, "managedFields")) continue;
      const std::string_view value = simdjson::to_json_string(field.value());
      begin = static_cast<std::size_t>(key.raw() - 1 - all.data());
      length = static_cast<std::size_t>(value.data() + value.size() - (key.raw() - 1));
      return ExtendByComma(all, begin, length);
    }
  });
  const std::size_t members = all.find('{') + 1;
  std::string result;
  result.reserve(first_members.size() + all.size() - length);  // without spare capacity
  result.append(all, 0, members).append(first_members);
  return result.append(all, members, begin - members).append(all.substr(begin + length));
}

// The parser's buffer for unescaped strings is large enough for one pass only.
void JsonObject::DecodeInto(void* object, detail::Fields fields) const {
  if (std::exchange(state_.decoded, true)) return detail::DecodeText(text(), object, fields);
  detail::WithDecodeErrors([&] {
    state_.json.reset().value();
    detail::DecodeMembers(state_.json, object, fields);
  });
}

void ParseObject(PaddedText text, const std::function<void(const JsonObject&)>& use) {
  detail::ParserLease parser;
  detail::WithDecodeErrors([&] {
    auto document = parser.Parse(text);
    JsonObject::State state{.json = document.get_object(), .text = text.text};
    use(JsonObject(state));
  });
}

void ParseObject(std::string_view text, const std::function<void(const JsonObject&)>& use) {
  std::string padded;
  padded.reserve(text.size() + PaddedText::kPadding);
  padded = text;
  ParseObject(PaddedText{padded}, use);
}

void ParseWatchEvent(PaddedText text,
                     const std::function<void(std::string_view, const JsonObject&)>& use) {
  detail::ParserLease parser;
  detail::WithDecodeErrors([&] {
    auto document = parser.Parse(text);
    ondemand::object event = document.get_object();
    const std::string type{std::string_view(MemberOf(event, "type"))};
    JsonObject::State state{.json = MemberOf(event, "object")};
    use(type, JsonObject(state));
  });
}

}  // namespace kopp
