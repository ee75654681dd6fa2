#include "write_loop_reporter.hpp"

#include <string>

namespace kopp {
void WriteLoopReporter::Report(const detail::WriteLoop& loop, std::string_view cluster) {
  const std::string fields = loop.FieldList();
  const std::string writers = loop.WriterList();
  log_.Error("Own writes change the same fields of an object back and forth",
             {{"kind", loop.kind.kind},
              {"namespace", loop.key.ns},
              {"name", loop.key.name},
              {"fields", fields},
              {"fieldManagers", writers},
              {"cluster", cluster}});
  if (metrics_ != nullptr) {
    metrics_->AddWriteLoop(loop.kind.kind, NameInMetric(loop.key), fields, writers);
  }
  auto events = events_.Lock();
  if (events->recorder == nullptr || !cluster.empty()) return;
  events->recorder->Warning({.apiVersion = loop.kind.api_version,
                             .kind = loop.kind.kind,
                             .ns = loop.key.ns,
                             .name = loop.key.name,
                             .uid = loop.uid},
                            "WriteLoop", "written back and forth by " + writers + ": " + fields,
                            {.action = "Write"});
}

ObjectKey WriteLoopReporter::NameInMetric(const ObjectKey& key) {
  auto named = named_.Lock();
  if (named->contains(key)) return key;
  if (named->size() == kMaxNamedObjects) return {};
  named->insert(key);
  return key;
}

}  // namespace kopp
