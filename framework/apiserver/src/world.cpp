#include "world.hpp"

#include "utf8.hpp"

#include <array>
#include <cstdio>
#include <ctime>

namespace kopp::apiserver {

void World::Serve(const std::string& kept_as, std::vector<Catalog::Entry> versions) {
  auto catalog = catalog_.Lock();
  auto next = std::make_shared<Catalog>(**catalog);
  next->Serve(kept_as, std::move(versions));
  *catalog = std::move(next);
}

std::string World::Now(Duration later) {
  const auto then = clock_.WallNow() + std::chrono::duration_cast<std::chrono::seconds>(later);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(then);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

std::string World::NowInMicroseconds() {
  const auto since = clock_.WallNow().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  std::array<char, 16> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%06dZ", static_cast<int>(micros % 1'000'000));
  std::string text = Now();
  text.pop_back();
  return text + fraction.data();
}

std::string World::NewUid() {
  auto chance = chance_.Lock();
  const std::uint64_t high = ((*chance)() & ~0xf000ULL) | 0x4000ULL;
  const std::uint64_t low = ((*chance)() & ~(3ULL << 62U)) | (2ULL << 62U);
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%08llx-%04llx-%04llx-%04llx-%012llx",
                static_cast<unsigned long long>(high >> 32U),
                static_cast<unsigned long long>((high >> 16U) & 0xffffU),
                static_cast<unsigned long long>(high & 0xffffU),
                static_cast<unsigned long long>(low >> 48U),
                static_cast<unsigned long long>(low & 0xffffffffffffULL));
  return text.data();
}

std::string World::NewName(const std::string& prefix) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  constexpr std::size_t kLongest = 63;
  constexpr std::size_t kRandom = 5;
  std::string name = AsUtf8(prefix.substr(0, kLongest - kRandom));  // a letter may be cut
  auto chance = chance_.Lock();
  for (std::size_t i = 0; i < kRandom; ++i) name += kLetters[(*chance)() % kLetters.size()];
  return name;
}

}  // namespace kopp::apiserver
