#include <kopp/or_null.hpp>

namespace kopp::detail {

void DecodeValue(std::string_view json, void* object, Fields fields) {
  const std::string name(fields.front().name);
  try {
    DecodeText("{\"" + name + "\":" + std::string(json) + '}', object, fields);
  } catch (const DecodeError& error) {
    const std::string_view text = error.what();
    if (!text.starts_with(name)) throw;
    // "value.days: problem", "value[0]: problem" or "value: problem"
    const std::size_t colon = text.find(": ");
    std::string path(text.substr(name.size(), colon - name.size()));
    if (path.starts_with('.')) path.erase(0, 1);
    throw DecodeError(error.kind(), std::move(path), std::string(text.substr(colon + 2)));
  }
}

}  // namespace kopp::detail
