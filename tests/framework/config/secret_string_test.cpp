#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <kopp/log.hpp>
#include <kopp/secret_string.hpp>

namespace kopp {
namespace {

template <class T>
concept Streamable = requires(std::ostream& out, const T& value) { out << value; };

static_assert(Streamable<std::string> && !Streamable<SecretString>);
static_assert(!std::convertible_to<SecretString, std::string> &&
              !std::convertible_to<SecretString, std::string_view>);
static_assert(!std::constructible_from<LogValue, SecretString>);
static_assert(!std::constructible_from<std::string, SecretString>);

TEST(SecretStringTest, TextIsReturnedByRevealOnly) {
  SecretString secret;
  secret = std::string("s3cret");

  EXPECT_EQ(secret.Reveal(), "s3cret");
  EXPECT_TRUE(secret == "s3cret");
  EXPECT_FALSE(secret == "other");
}

TEST(SecretStringTest, CopyIsIndependentOfTheOriginal) {
  SecretString original = "s3cret";
  const SecretString copy = original;

  original = "other";

  EXPECT_EQ(copy.Reveal(), "s3cret");
}

TEST(SecretStringTest, MovedFromSecretIsEmpty) {
  SecretString original = "s3cret";
  const SecretString moved = std::move(original);

  EXPECT_TRUE(original.empty());  // NOLINT: the state after a move is specified
  EXPECT_EQ(moved.Reveal(), "s3cret");
}

TEST(SecretStringTest, ClearedSecretIsEmpty) {
  SecretString secret = "s3cret";
  secret.clear();

  EXPECT_TRUE(secret.empty());
}

// The object itself never holds the text, so that gtest, a debugger or memcpy cannot show it.
TEST(SecretStringTest, ObjectContainsNoTextOfItsOwn) {
  const SecretString secret = "s3cret";
  const std::string_view bytes(reinterpret_cast<const char*>(&secret), sizeof(secret));

  EXPECT_EQ(bytes.find("s3cret"), std::string_view::npos);
}

// A secret, and a way to look at its memory after that has been freed.
class SecretMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(IsInMemory()); }

  // Reads the memory of this process through the kernel, because it may be freed. Does not
  // allocate: an allocation could get this memory and overwrite it.
  bool IsInMemory() {
    const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    const ssize_t received = ::pread(memory, bytes_.data(), bytes_.size(),
                                     static_cast<off_t>(reinterpret_cast<std::intptr_t>(address_)));
    ::close(memory);
    return std::string_view(bytes_.data(), static_cast<std::size_t>(std::max<ssize_t>(received, 0)))
               .find("s3cret") != std::string_view::npos;
  }

  std::unique_ptr<SecretString> secret_ =
      std::make_unique<SecretString>(std::string(100, 'x') + "s3cret" + std::string(100, 'x'));

 private:
  const void* const address_ = secret_->Reveal().data();
  std::array<char, 206> bytes_{};
};

TEST_F(SecretMemoryTest, IsZeroedOnDestruction) {
  secret_.reset();

  EXPECT_FALSE(IsInMemory());
}

TEST_F(SecretMemoryTest, IsZeroedOnAssignment) {
  *secret_ = "other";

  EXPECT_FALSE(IsInMemory());
}

TEST_F(SecretMemoryTest, IsZeroedOnClear) {
  secret_->clear();

  EXPECT_FALSE(IsInMemory());
}

}  // namespace
}  // namespace kopp
