// error: this struct is a view, which lists only some fields of its kind: write the complete
// type, such as kopp::Pod, or use Patch or ApplyStatus
#include <kopp/client.hpp>
#include <kopp/kinds.hpp>

struct PodPhase {
  static constexpr kopp::Kind kKind = kopp::Pod::kKind;
  struct Status {
    std::string phase;
  };
  kopp::ObjectMeta metadata;
  Status status;
};
KOPP_FIELDS(PodPhase::Status, phase)
KOPP_FIELDS(PodPhase, metadata, status)

void Write(const kopp::Client& client, const PodPhase& pod) { client.Apply<PodPhase>(pod); }
// the only error
