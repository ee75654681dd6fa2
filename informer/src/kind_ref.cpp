#include <ostream>

#include <kopp/informer/kind_ref.hpp>

namespace kopp {

std::string KindRef::ToString() const {
  std::string text = plural;
  return text.append(".").append(version()).append(".").append(group());
}

std::ostream& operator<<(std::ostream& out, const KindRef& kind) { return out << kind.ToString(); }

}  // namespace kopp
