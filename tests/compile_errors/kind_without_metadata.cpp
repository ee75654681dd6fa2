// error: this kind has no metadata: add to the struct `kopp::ObjectMeta metadata;`
#include <kopp/manager.hpp>

struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1", "Site", "sites"};
  int replicas = 0;
};
KOPP_FIELDS(Site, replicas)

kopp::Result Reconcile(const Site& site, kopp::Context& context);

void AddTo(kopp::Manager& manager) { manager.AddController<Site>().Reconcile(Reconcile); }
