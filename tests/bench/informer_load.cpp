// Creates and changes the Pods that informer.sh measures informers with.
//
//     informer_load fill COUNT     creates COUNT Pods of 7.4 kB at the API server of $KUBECONFIG
//     informer_load touch COUNT    changes an annotation of each of the first COUNT Pods

#include "apiserver_objects.hpp"
#include "parallel_calls.hpp"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <kopp/config.hpp>
#include <kopp/transport.hpp>

namespace {

const std::string namespace_path = "/api/v1/namespaces/default";
const std::string pods_path = namespace_path + "/pods";

std::string NameOf(std::size_t number) { return "web-frontend-" + std::to_string(number); }

void Fill(kopp::Transport& server, std::size_t count) {
  // The API server rejects Pods without it. In a complete cluster, a controller creates it.
  SendInParallel(server, 1, [](std::size_t) -> kopp::ApiRequest {
    return {.method = "POST",
            .target = namespace_path + "/serviceaccounts",
            .body = R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}})"};
  });
  SendInParallel(server, count, [](std::size_t number) -> kopp::ApiRequest {
    return {.method = "POST", .target = pods_path, .body = MakePod(NameOf(number), number).dump()};
  });
}

void Touch(kopp::Transport& server, std::size_t count) {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const nlohmann::json patch{{"metadata", {{"annotations", {{"touched", std::to_string(now)}}}}}};
  SendInParallel(server, count, [body = patch.dump()](std::size_t number) -> kopp::ApiRequest {
    return {.method = "PATCH",
            .target = pods_path + '/' + NameOf(number),
            .body = body,
            .content_type = "application/merge-patch+json"};
  });
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 2 || (arguments[0] != "fill" && arguments[0] != "touch")) {
    std::fputs("usage: informer_load fill|touch COUNT\n", stderr);
    return 2;
  }
  try {
    const auto server = kopp::MakeTransport(kopp::LoadConfig());
    const std::size_t count = std::stoul(arguments[1]);
    arguments[0] == "fill" ? Fill(*server, count) : Touch(*server, count);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "informer_load: %s\n", error.what());
    return 1;
  }
}
