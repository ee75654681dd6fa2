#include "generated_files.hpp"

#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include <base/sha256.hpp>

namespace kopp::command {
namespace {

namespace fs = std::filesystem;
using Checksums = std::map<std::string, std::string>;  // by path

std::string Checksum(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char byte : detail::Sha256(text)) {
    const auto value = static_cast<unsigned char>(byte);
    hex += kDigits[value / 16];
    hex += kDigits[value % 16];
  }
  return hex;
}

std::optional<std::string> ReadIfExists(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error("cannot read " + path.string() + ": is it a file?");
  return std::move(text).str();
}

void WriteText(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

Checksums ReadChecksums(const fs::path& root) {
  constexpr std::size_t kHexDigits = 64;
  Checksums checksums;
  std::istringstream lines(ReadIfExists(root / kChecksumsFile).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.size() > kHexDigits + 2)
      checksums[line.substr(kHexDigits + 2)] = line.substr(0, kHexDigits);
  }
  return checksums;
}

void WriteChecksums(const fs::path& root, const Checksums& checksums) {
  std::string text;
  for (const auto& [path, checksum] : checksums) text += checksum + "  " + path + '\n';
  if (ReadIfExists(root / kChecksumsFile) != text) WriteText(root / kChecksumsFile, text);
}

enum class State { kMissing, kEqual, kAsGenerated, kChanged };

State StateOf(const fs::path& root, const GeneratedFile& file, const Checksums& checksums) {
  const auto current = ReadIfExists(root / file.path);
  if (!current) return State::kMissing;
  if (*current == file.text) return State::kEqual;
  const auto recorded = checksums.find(file.path.generic_string());
  const bool as_generated = recorded != checksums.end() && recorded->second == Checksum(*current);
  return as_generated ? State::kAsGenerated : State::kChanged;
}

}  // namespace

ChangedFilesError::ChangedFilesError(const std::vector<fs::path>& files)
    : std::runtime_error([&] {
        std::string text = "these files exist and were changed, so nothing is written:\n";
        for (const fs::path& file : files) text += "  " + file.string() + '\n';
        return text + "Move them away, or overwrite them with --force.";
      }()) {}

WriteSummary WriteFiles(const fs::path& root, const std::vector<GeneratedFile>& files,
                        OnChanged on_changed, const std::function<bool(const fs::path&)>& ask) {
  Checksums checksums = ReadChecksums(root);
  std::vector<State> states;
  std::vector<fs::path> changed;
  std::map<fs::path, std::string_view> texts;
  for (const GeneratedFile& file : files) {
    if (texts.emplace(file.path, file.text).first->second != file.text) {
      throw std::invalid_argument("two inputs would be written to " + (root / file.path).string() +
                                  ": generate them into different folders");
    }
    states.push_back(StateOf(root, file, checksums));
    if (states.back() == State::kChanged) changed.push_back(root / file.path);
  }
  if (!changed.empty() && on_changed == OnChanged::kRefuse) throw ChangedFilesError(changed);

  WriteSummary summary;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const GeneratedFile& file = files[i];
    if (states[i] == State::kChanged && on_changed == OnChanged::kAsk && !ask(root / file.path)) {
      summary.kept.push_back(file.path);
      continue;
    }
    if (states[i] != State::kEqual) WriteText(root / file.path, file.text);
    (states[i] == State::kEqual ? summary.unchanged : summary.written).push_back(file.path);
    checksums[file.path.generic_string()] = Checksum(file.text);
  }
  WriteChecksums(root, checksums);
  return summary;
}

std::vector<fs::path> OutdatedFiles(const fs::path& root, const std::vector<GeneratedFile>& files) {
  std::vector<fs::path> outdated;
  for (const GeneratedFile& file : files) {
    if (ReadIfExists(root / file.path) != file.text) outdated.push_back(root / file.path);
  }
  return outdated;
}

fs::path ProjectRoot(const fs::path& folder) {
  fs::path absolute = fs::weakly_canonical(fs::absolute(folder));
  for (fs::path candidate = absolute;; candidate = candidate.parent_path()) {
    if (fs::exists(candidate / kChecksumsFile)) return candidate;
    if (candidate == candidate.parent_path()) return absolute;
  }
}

}  // namespace kopp::command
