#include <ostream>

#include <kopp/informer/kind_ref.hpp>

namespace kopp {

KindRef::KindRef(const Kind& other)
    : api_version(other.api_version), kind(other.kind), plural(other.plural), scope(other.scope) {}

std::string KindRef::ToString() const {
  std::string text = plural;
  return text.append(".").append(version()).append(".").append(group());
}

std::ostream& operator<<(std::ostream& out, const KindRef& kind) { return out << kind.ToString(); }

}  // namespace kopp
