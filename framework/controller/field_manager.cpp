#include "base/option_checks.hpp"
#include "base/sha256.hpp"
#include "controller/controller_impl.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The field manager of a controller: the owner of the fields that its reconciles write.

namespace kopp {
namespace {

constexpr std::size_t kHashBytes = 8;

/// Returns 16 hexadecimal digits that differ for different texts.
std::string HashOf(const std::string& text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string hash;
  for (const char c : detail::Sha256(text).substr(0, kHashBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    hash += {kHex[byte >> 4U], kHex[byte & 15U]};
  }
  return hash;
}

/// Returns `name` if the API server accepts its length. Otherwise returns its start, as complete
/// UTF-8 characters, and a hash of all of it.
std::string Shortened(const std::string& name) {
  if (name.size() <= detail::kMaxFieldManager) return name;
  std::size_t size = detail::kMaxFieldManager - 2 * kHashBytes - 1;
  while (size > 0 && (static_cast<unsigned char>(name[size]) & 0xC0U) == 0x80U) --size;
  return name.substr(0, size) + '-' + HashOf(name);
}

}  // namespace

std::string Controller::Impl::FieldManager(const std::string& program) const {
  if (!options_.field_manager.empty()) return options_.field_manager;
  std::string manager = Shortened(program + '/' + name());
  detail::RequireFieldManager("the field manager of the controller \"" + name() + '"', manager);
  return manager;
}

Client Controller::Impl::ClientOf(const Client& program, const std::vector<Impl*>& all) const {
  auto former = options_.former_field_managers.value_or(std::vector{program.field_manager()});
  std::erase_if(former, [&](const std::string& manager) {
    return std::ranges::any_of(all, [&](const Impl* controller) {
      return controller->FieldManager(program.field_manager()) == manager;
    });
  });
  return program.WithFieldManager(FieldManager(program.field_manager()), std::move(former));
}

}  // namespace kopp
