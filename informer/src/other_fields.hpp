#pragma once

#include "json_document.hpp"

#include <string>
#include <string_view>

// The member for kOtherFields. It is decoded from, and encoded as, the only field of an object.

namespace kopp::detail {

inline constexpr std::string_view kOthersStart = "{\"others\":{";

/// Returns the field for kOtherFields, or null.
inline const Field* OthersIn(Fields fields) {
  return !fields.empty() && fields.back().name == kOtherFields ? &fields.back() : nullptr;
}

/// Appends a field that no member has to `text`, which is decoded at the end.
inline void AppendOther(std::string& text, std::string_view key, simdjson::ondemand::value value) {
  if (text.empty()) text = kOthersStart;
  Encoder encoder{text};
  encoder.WriteKey(key);
  encoder.WriteRaw(simdjson::to_json_string(value).value());
}

/// Decodes what AppendOther has collected.
inline void DecodeOthers(std::string text, void* object, Field field) {
  if (text.empty()) return;
  field.name = "others";
  text += "}}";
  DecodeText(text, object, {&field, 1});
}

/// Appends the entries of the member for kOtherFields.
inline void EncodeOthers(Encoder& encoder, const void* object, const Field& field) {
  std::string text = "{";
  Encoder others{text};
  field.encode(static_cast<const char*>(object) + field.offset, "others", others);
  if (!text.starts_with(kOthersStart)) return;
  text.erase(0, kOthersStart.size());
  text.pop_back();
  encoder.StartElement();
  encoder.WriteRaw(text);
}

}  // namespace kopp::detail
