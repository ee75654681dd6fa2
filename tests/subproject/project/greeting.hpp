// The kind Greeting and its reconcile function.
#pragma once
#include <string>

#include <kopp/framework.hpp>
#include <kopp/json.hpp>

static_assert(NLOHMANN_JSON_VERSION_PATCH == 99, "nlohmann_json is not that of this project");

struct Greeting {
  static constexpr kopp::Kind kKind{"example.com/v1", "Greeting", "greetings"};
  struct Spec {
    std::string to;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Greeting::Spec, to)
KOPP_FIELDS(Greeting, metadata, spec)
KOPP_CRD(Greeting)

inline kopp::Result Reconcile(const Greeting& greeting, kopp::Context& ctx) {
  ctx.client.Apply<kopp::ConfigMap>({{"metadata", kopp::OwnedBy(greeting, greeting.metadata.name)},
                                     {"data", {{"text", "Hello " + greeting.spec.to}}}});
  return {};
}
