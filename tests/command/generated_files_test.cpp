#include "generated_files.hpp"

#include "temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::command {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class GeneratedFilesTest : public testing::Test {
 protected:
  WriteSummary Write(const std::string& a, const std::string& b,
                     OnChanged on_changed = OnChanged::kRefuse) {
    return WriteFiles(folder_.path(), {{"a", a}, {"src/b", b}}, on_changed);
  }

  TemporaryFolder folder_;
};

TEST_F(GeneratedFilesTest, FilesAreWrittenIntoNewFolders) {
  EXPECT_THAT(Write("1", "2").written, ElementsAre("a", "src/b"));

  EXPECT_EQ(folder_.Read("a"), "1");
  EXPECT_EQ(folder_.Read("src/b"), "2");
}

TEST_F(GeneratedFilesTest, TwoFilesWithOnePathAreRefused) {
  EXPECT_THROW(WriteFiles(folder_.path(), {{"a", "1"}, {"a", "2"}}, OnChanged::kOverwrite),
               std::invalid_argument);
}

TEST_F(GeneratedFilesTest, FilesThatNobodyChangedAreReplaced) {
  Write("1", "2");

  const auto summary = Write("1", "new");

  EXPECT_THAT(summary.written, ElementsAre("src/b"));
  EXPECT_THAT(summary.unchanged, ElementsAre("a"));
  EXPECT_EQ(folder_.Read("src/b"), "new");
}

TEST_F(GeneratedFilesTest, NothingIsWrittenIfAFileWasChanged) {
  Write("1", "2");
  folder_.Write("src/b", "mine");

  EXPECT_THROW(
      {
        try {
          Write("new", "new");
        } catch (const ChangedFilesError& error) {
          EXPECT_THAT(error.what(), HasSubstr("src/b\n"));
          EXPECT_THAT(error.what(), Not(HasSubstr("/a\n")));
          throw;
        }
      },
      ChangedFilesError);
  EXPECT_EQ(folder_.Read("a"), "1");
  EXPECT_EQ(folder_.Read("src/b"), "mine");
}

TEST_F(GeneratedFilesTest, AFileThatWasNotGeneratedCountsAsChanged) {
  folder_.Write("a", "mine");

  EXPECT_THROW(Write("1", "2"), ChangedFilesError);
  EXPECT_EQ(folder_.Read("src/b"), "");
}

TEST_F(GeneratedFilesTest, ChangedFilesAreOverwrittenIfRequested) {
  folder_.Write("a", "mine");

  Write("1", "2", OnChanged::kOverwrite);

  EXPECT_EQ(folder_.Read("a"), "1");
}

TEST_F(GeneratedFilesTest, AFileThatTheUserKeepsIsAskedForAgain) {
  folder_.Write("a", "mine");
  int questions = 0;
  const auto keep = [&](const std::filesystem::path&) { return ++questions == 0; };
  for (int i = 0; i < 2; ++i) {
    const auto summary =
        WriteFiles(folder_.path(), {{"a", "1"}, {"b", "2"}}, OnChanged::kAsk, keep);
    EXPECT_THAT(summary.kept, ElementsAre("a"));
  }
  EXPECT_EQ(questions, 2);
  EXPECT_EQ(folder_.Read("a"), "mine");
  EXPECT_EQ(folder_.Read("b"), "2");
}

TEST_F(GeneratedFilesTest, ChecksumsHaveTheFormatOfSha256sum) {
  Write("", "2");

  EXPECT_THAT(folder_.Read(kChecksumsFile),
              HasSubstr("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n"));
}

TEST_F(GeneratedFilesTest, OutdatedFilesAreMissingOrDifferent) {
  Write("1", "2");

  EXPECT_THAT(OutdatedFiles(folder_.path(), {{"a", "1"}, {"src/b", "new"}, {"c", ""}}),
              ElementsAre(folder_.path() / "src/b", folder_.path() / "c"));
}

TEST_F(GeneratedFilesTest, ProjectRootIsTheFolderWithTheChecksums) {
  Write("1", "2");

  EXPECT_EQ(ProjectRoot(folder_.path() / "src"), ProjectRoot(folder_.path()));
}

}  // namespace
}  // namespace kopp::command
