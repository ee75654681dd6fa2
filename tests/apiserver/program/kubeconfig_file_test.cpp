#include "kubeconfig_file.hpp"

#include "http/certificate_authority.hpp"
#include "support/scratch_folder.hpp"

#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kopp/config.hpp>

namespace kopp::apiserver {
namespace {

namespace fs = std::filesystem;

Config Reread(const testing::ScratchFolder& folder, const Config& config, const std::string& user) {
  WritePrivateFile(folder / "kubeconfig", KubeconfigText(config, user));
  return LoadConfig({.kubeconfig = (folder / "kubeconfig").string(),
                     .getenv = [](const std::string&) { return std::nullopt; }});
}

TEST(KubeconfigFileTest, LoadConfigReadsWhatWasWritten) {
  const testing::ScratchFolder folder;
  const CertificateAuthority authority;
  const auto [certificate, key] = authority.IssueForUser({.name = "web"});
  const Config config{.server = "https://127.0.0.1:6443",
                      .certificate_authority = authority.certificate(),
                      .client_certificate = certificate,
                      .client_key = key};

  const Config read = Reread(folder, config, "system:serviceaccount:default:web");

  EXPECT_EQ(read.server, config.server);
  EXPECT_EQ(read.certificate_authority, config.certificate_authority);
  EXPECT_EQ(read.client_certificate, config.client_certificate);
  EXPECT_EQ(read.client_key, config.client_key);
}

TEST(KubeconfigFileTest, LoadConfigReadsAWrittenToken) {
  const testing::ScratchFolder folder;

  EXPECT_EQ(Reread(folder, {.server = "https://h:1", .token = "t0k3n"}, "a \"strange\" user").token,
            "t0k3n");
}

TEST(KubeconfigFileTest, AConfigWithoutCredentialsIsValid) {
  const testing::ScratchFolder folder;

  EXPECT_EQ(Reread(folder, {.server = "http://127.0.0.1:8080"}, "you").server,
            "http://127.0.0.1:8080");
}

TEST(KubeconfigFileTest, TheFileHasMode0600EvenIfItExistedWithAnotherMode) {
  const testing::ScratchFolder folder;
  fs::permissions(folder.Write("kubeconfig", "old"), fs::perms::all);

  WritePrivateFile(folder / "kubeconfig", "new");

  EXPECT_EQ(folder.Read("kubeconfig"), "new");
  EXPECT_EQ(fs::status(folder / "kubeconfig").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(KubeconfigFileTest, ASymbolicLinkIsKeptAndItsTargetIsWritten) {
  const testing::ScratchFolder folder;
  fs::create_symlink("there", folder / "link");

  WritePrivateFile(folder / "link", "text");

  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(folder.Read("there"), "text");
}

TEST(KubeconfigFileTest, APipeWithAReaderReceivesTheText) {
  const testing::ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(WritePrivateFile(folder / "pipe", "text"), std::runtime_error);
  const int reader = ::open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);

  WritePrivateFile(folder / "pipe", "text");

  char got[8] = "";
  EXPECT_EQ(::read(reader, got, sizeof got), 4);
  EXPECT_STREQ(got, "text");
  EXPECT_TRUE(fs::is_fifo(folder / "pipe"));
  ::close(reader);
}

TEST(KubeconfigFileTest, AFailedWriteLeavesNoTemporaryFile) {
  const testing::ScratchFolder folder;
  fs::create_directory(folder / "kubeconfig");

  EXPECT_THROW(WritePrivateFile(folder / "kubeconfig", "text"), std::runtime_error);
  EXPECT_THROW(WritePrivateFile(folder / "none" / "kubeconfig", "text"), std::runtime_error);

  EXPECT_EQ(std::distance(fs::directory_iterator(folder / ""), {}), 1);
}

}  // namespace
}  // namespace kopp::apiserver
