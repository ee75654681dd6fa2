// error: Watches<U>: the function must take const U& and return std::vector<kopp::ObjectKey>
#include <kopp/kinds.hpp>
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

kopp::ObjectKey SiteOf(const kopp::Pod& pod);

void AddTo(kopp::Manager& manager) { manager.AddController<Site>().Watches<kopp::Pod>(SiteOf); }
