#include <ostream>
#include <stdexcept>

#include <kopp/informer/object_key.hpp>

namespace kopp {

ObjectKey ObjectKey::Parse(std::string_view text) {
  const auto slash = text.find('/');
  ObjectKey key;
  if (slash != std::string_view::npos) key.ns = text.substr(0, slash);
  key.name = text.substr(slash == std::string_view::npos ? 0 : slash + 1);
  if (key.name.empty() || key.name.find('/') != std::string::npos) {
    throw std::invalid_argument("invalid object key \"" + std::string(text) +
                                "\": expected \"name\" or \"namespace/name\"");
  }
  return key;
}

std::ostream& operator<<(std::ostream& out, const ObjectKey& key) { return out << key.ToString(); }

}  // namespace kopp
