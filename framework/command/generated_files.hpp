#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kopp::command {

/// A file that a generator wants to write.
struct GeneratedFile {
  std::filesystem::path path{};  ///< relative to the root folder
  std::string text{};
};

/// What happens to files that somebody has changed since they were generated.
enum class OnChanged {
  kAsk,        ///< ask for each file
  kRefuse,     ///< write nothing and throw ChangedFilesError
  kOverwrite,  ///< overwrite them
};

/// Thrown if files were changed since they were generated. what() lists them.
class ChangedFilesError : public std::runtime_error {
 public:
  explicit ChangedFilesError(const std::vector<std::filesystem::path>& files);
};

/// What WriteFiles has done. Paths are relative to the root folder.
struct WriteSummary {
  std::vector<std::filesystem::path> written{};    ///< new, or with other contents than before
  std::vector<std::filesystem::path> unchanged{};  ///< they had these contents already
  std::vector<std::filesystem::path> kept{};       ///< changed, and the user kept the changes
};

/// The name of the file in the root folder with the checksums of all generated files, in the format
/// of sha256sum.
inline constexpr const char* kChecksumsFile = ".kopp-generated";

/// Writes `files` below the folder `root`, which is created if it does not exist. Records their
/// checksums in kChecksumsFile.
///
/// A file that exists is overwritten without a question only if it has the recorded checksum, so
/// that no changes are lost. All files are checked before the first one is written. `ask`
/// returns whether to overwrite the given file; it is used for OnChanged::kAsk only. Throws
/// ChangedFilesError, and std::runtime_error if a file cannot be read or written.
WriteSummary WriteFiles(const std::filesystem::path& root, const std::vector<GeneratedFile>& files,
                        OnChanged on_changed,
                        const std::function<bool(const std::filesystem::path&)>& ask = {});

/// Returns those of `files` whose contents on disk differ, or that do not exist.
[[nodiscard]] std::vector<std::filesystem::path> OutdatedFiles(
    const std::filesystem::path& root, const std::vector<GeneratedFile>& files);

/// Returns the nearest folder with kChecksumsFile: `folder` or one of its parents; or else
/// `folder`.
[[nodiscard]] std::filesystem::path ProjectRoot(const std::filesystem::path& folder);

}  // namespace kopp::command
