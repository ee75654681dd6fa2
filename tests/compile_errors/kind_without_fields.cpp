// error: this kind has no field list: write KOPP_FIELDS(TYPE, metadata, …) below the struct, in its
// namespace
#include <kopp/manager.hpp>

struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1", "Site", "sites"};
  kopp::ObjectMeta metadata;
};

kopp::Result Reconcile(const Site& site, kopp::Context& context);

void AddTo(kopp::Manager& manager) { manager.AddController<Site>().Reconcile(Reconcile); }
