// error: this type is not a kind of object: add to the struct `static constexpr kopp::Kind
// kKind{"GROUP/VERSION", "KIND", "PLURAL"};`
#include <kopp/manager.hpp>

struct Site {
  kopp::ObjectMeta metadata;
};
KOPP_FIELDS(Site, metadata)

kopp::Result Reconcile(const Site& site, kopp::Context& context);

void AddTo(kopp::Manager& manager) { manager.AddController<Site>().Reconcile(Reconcile); }
