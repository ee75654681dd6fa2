#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include <kopp/informer/object.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::soak {

/// A file of JSON lines; see run_log.hpp for their form. Thread-safe.
class LogFile {
 public:
  /// Throws std::runtime_error if it cannot create the file.
  explicit LogFile(const std::filesystem::path& path) : out_(path) {
    if (!*out_.Lock()) throw std::runtime_error("cannot create " + path.string());
  }

  void Write(const nlohmann::json& line) { *out_.Lock() << line.dump() << '\n'; }

 private:
  detail::Guarded<std::ofstream> out_;
};

/// Returns the form of an object in a log.
inline nlohmann::json ToJson(const ObjectMeta& metadata) {
  return nlohmann::json::array(
      {metadata.ns, metadata.name, metadata.uid, metadata.resourceVersion});
}

}  // namespace kopp::soak
