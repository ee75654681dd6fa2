#include "write_loop_reporter.hpp"

namespace kopp {

void WriteLoopReporter::Report(const detail::WriteLoop& loop, std::string_view cluster) {
  try {
    ReportOrThrow(loop, cluster);
  } catch (...) {  // NOLINT(bugprone-empty-catch): see the contract
  }
}

void WriteLoopReporter::ReportOrThrow(const detail::WriteLoop& loop, std::string_view cluster) {
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
    const Labels labels = LabelsOf(loop);
    metrics_->AddWriteLoop(loop.kind.kind, labels.key, labels.fields, labels.writers);
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

WriteLoopReporter::Labels WriteLoopReporter::LabelsOf(const detail::WriteLoop& loop) {
  auto named = named_.Lock();
  const auto found = named->find({loop.kind.kind, loop.key});
  if (found != named->end()) return found->second;
  if (named->size() == kMaxNamedObjects) return {};
  return named
      ->try_emplace({loop.kind.kind, loop.key},
                    Labels{loop.key, loop.FieldList(), loop.WriterList()})
      .first->second;
}

}  // namespace kopp
