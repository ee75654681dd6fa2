#include "storage/server_context.hpp"

#include "schema/utf8.hpp"

#include <array>
#include <cstdio>
#include <ctime>

namespace kopp::apiserver {

void ServerContext::SetServedVersions(const std::string& storage_resource,
                                      std::vector<ResourcePtr> versions) {
  auto catalog = catalog_.Lock();
  auto next = std::make_shared<Catalog>(**catalog);
  next->SetServedVersions(storage_resource, std::move(versions));
  *catalog = std::move(next);
}

void ServerContext::AddBearerToken(const std::string& token, const User& user) {
  users_by_token_.Lock()->emplace(token, user);
}

std::optional<User> ServerContext::FindBearerToken(std::string_view token) {
  auto users_by_token = users_by_token_.Lock();
  const auto found = users_by_token->find(token);
  return found == users_by_token->end() ? std::nullopt : std::optional(found->second);
}

std::string ServerContext::NewTokenKey() {
  constexpr std::size_t kSize = 32;  // bytes, as HMAC-SHA-256 recommends
  std::random_device random;
  std::string key;
  for (std::size_t i = 0; i < kSize; ++i) key += static_cast<char>(random() & 0xffU);
  return key;
}

std::string ServerContext::Now(Duration offset) {
  const auto time = clock_.WallNow() + std::chrono::duration_cast<std::chrono::seconds>(offset);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

std::string ServerContext::NowInMicroseconds() {
  const auto since_epoch = clock_.WallNow().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count();
  std::array<char, 16> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%06dZ", static_cast<int>(micros % 1'000'000));
  std::string text = Now();
  text.pop_back();
  return text + fraction.data();
}

std::string ServerContext::NewUid() {
  auto random = random_.Lock();
  const std::uint64_t high = ((*random)() & ~0xf000ULL) | 0x4000ULL;
  const std::uint64_t low = ((*random)() & ~(3ULL << 62U)) | (2ULL << 62U);
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%08llx-%04llx-%04llx-%04llx-%012llx",
                static_cast<unsigned long long>(high >> 32U),
                static_cast<unsigned long long>((high >> 16U) & 0xffffU),
                static_cast<unsigned long long>(high & 0xffffU),
                static_cast<unsigned long long>(low >> 48U),
                static_cast<unsigned long long>(low & 0xffffffffffffULL));
  return text.data();
}

std::string ServerContext::GenerateName(const std::string& prefix) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  constexpr std::size_t kMaxLength = 63;
  constexpr std::size_t kRandomLength = 5;
  std::string name =
      ToValidUtf8(prefix.substr(0, kMaxLength - kRandomLength));  // the cut may split a character
  auto random = random_.Lock();
  for (std::size_t i = 0; i < kRandomLength; ++i) name += kAlphabet[(*random)() % kAlphabet.size()];
  return name;
}

}  // namespace kopp::apiserver
