#include <ostream>

#include <kopp/informer/owning_kind.hpp>

namespace kopp {

OwningKind::OwningKind(const Kind& other)
    : api_version(other.api_version), kind(other.kind), plural(other.plural), scope(other.scope) {}

std::string OwningKind::ToString() const {
  std::string text = plural;
  return text.append(".").append(version()).append(".").append(group());
}

std::ostream& operator<<(std::ostream& out, const OwningKind& kind) {
  return out << kind.ToString();
}

}  // namespace kopp
