// Keeps a folder in the current directory for each ConfigMap with the label example.com/folder=yes.
// The finalizer keeps the ConfigMap until its folder is removed.
#include <filesystem>

#include <kopp/framework.hpp>

using kopp::ConfigMap;

constexpr const char* kFinalizer = "example.com/folder";

// The uid is never used again, so a folder never belongs to a later ConfigMap of the same name.
static std::filesystem::path FolderOf(const ConfigMap& map) { return "folder-" + map.metadata.uid; }

static kopp::Result CreateFolder(const ConfigMap& map, kopp::Context& ctx) {
  if (std::filesystem::create_directory(FolderOf(map))) {
    ctx.log.Info("Created the folder", {{"folder", FolderOf(map).string()}});
  }
  return {};
}

// Removes the folder if it exists. It may be called twice, or without a call of CreateFolder.
static void RemoveFolder(const ConfigMap& map, kopp::Context& ctx) {
  std::filesystem::remove_all(FolderOf(map));
  ctx.log.Info("Removed the folder", {{"folder", FolderOf(map).string()}});
}

int main(int argc, char** argv) {
  const auto stop = kopp::StopOnSignal();
  auto options = kopp::Options::FromCommandLine(argc, argv, "Keeps a folder for each ConfigMap.");
  options.cache.ByObject<ConfigMap>({.selector = {.labels = "example.com/folder=yes"}});
  kopp::Manager manager{std::move(options)};
  manager.AddController<ConfigMap>().Reconcile(
      kopp::WithFinalizer<ConfigMap>(kFinalizer, CreateFolder, RemoveFolder));
  return manager.Run(stop);
}
