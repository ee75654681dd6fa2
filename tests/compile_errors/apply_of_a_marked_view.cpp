// error: this struct is a view, which lists only some fields of its kind: write the complete
// type, such as kopp::Pod, or use Patch or ApplyStatus
#include <kopp/client.hpp>

struct Certificate {
  static constexpr kopp::Kind kKind{"cert-manager.io/v1", "Certificate", "certificates"};
  static constexpr bool kIsView = true;
  kopp::ObjectMeta metadata;
};
KOPP_FIELDS(Certificate, metadata)

void Write(const kopp::Client& client, const Certificate& object) { client.Apply(object); }
// the only error
