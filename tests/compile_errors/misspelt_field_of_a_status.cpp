// error: ‘Foo::Status’ has no non-static data member named ‘availableReplica’
#include <kopp/client.hpp>
// clang: error: field designator 'availableReplica' does not refer to any field in type
// 'Foo::Status'; did you mean 'availableReplicas'?

struct Foo {
  static constexpr kopp::Kind kKind{"example.com/v1", "Foo", "foos"};
  struct Status {
    int availableReplicas = 0;
  };
  kopp::ObjectMeta metadata;
  Status status;
};
KOPP_FIELDS(Foo::Status, availableReplicas)
KOPP_FIELDS(Foo, metadata, status)

void Report(const kopp::Client& client, const Foo& foo) {
  client.ApplyStatus(foo, Foo::Status{.availableReplica = 1});
}

// the only error
