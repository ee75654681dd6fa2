// error: Reconcile: the function must be Result(const T&, Context&), where T is the type of
// AddController<T>, or Result(const ObjectKey&, Context&)
#include <kopp/manager.hpp>

struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1", "Site", "sites"};
  struct Status {
    bool ready = false;
  };
  kopp::ObjectMeta metadata;
  Status status;
};
KOPP_FIELDS(Site::Status, ready)
KOPP_FIELDS(Site, metadata, status)

void Reconcile(const Site& site, kopp::Context& context);

void AddTo(kopp::Manager& manager) { manager.AddController<Site>().Reconcile(Reconcile); }
