#pragma once

#include "api/extensions.hpp"
#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/response.hpp"
#include "storage/server_context.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Handles /openapi/v3, the documents below it (one for each API group version), and /openapi/v2,
/// which is empty. A document contains all types of its group version. Of the operations it
/// contains only those that kubectl looks up.
///
/// The first request builds the documents. After a change of the served resources, the next request
/// builds those that the change affects. Thread-safe. `context` must outlive it.
class OpenApiHandler final : public PathHandler {
 public:
  explicit OpenApiHandler(ServerContext& context) : context_(context) {}

  [[nodiscard]] std::optional<ServerResponse> Handle(const ServerRequest& request) override;

 private:
  struct Document {
    std::vector<ResourcePtr> resources{};  // from which the document was built
    std::string text{};
    std::string hash{};
  };
  using Documents = std::map<std::string, std::shared_ptr<const Document>>;  // by path
  struct Cache {
    std::shared_ptr<const Catalog> catalog{};  // the catalog of `documents`
    std::shared_ptr<const Documents> documents = std::make_shared<const Documents>();
  };

  [[nodiscard]] std::shared_ptr<const Documents> CurrentDocuments();
  [[nodiscard]] std::string BuildText(const std::string& path,
                                      const std::vector<ResourcePtr>& resources);

  ServerContext& context_;
  detail::Guarded<Cache> cache_;
};

}  // namespace kopp::apiserver
