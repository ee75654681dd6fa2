// error: this type is not a kind of object: add to the struct `static constexpr kopp::Kind
// kKind{"GROUP/VERSION", "KIND", "PLURAL"};`
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

void AddTo(kopp::Manager& manager) { manager.AddController<Site>().Owns<std::string>(); }
