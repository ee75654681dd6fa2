// error: ApplyStatus: the second argument must have the type of the member `status` of the object,
// for example {.ready = true}
#include <kopp/client.hpp>

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

void Write(const kopp::Client& client, const Site& site) { client.ApplyStatus(site, true); }
