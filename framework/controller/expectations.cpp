#include "base/option_checks.hpp"

#include <utility>

#include <kopp/controller/expectations.hpp>

namespace kopp {

Expectations::Expectations(Clock& clock, Duration timeout) : clock_(clock), timeout_(timeout) {
  detail::RequirePositive("the timeout of Expectations", timeout);
}

void Expectations::Expect(const ObjectKey& key, Effects effects) {
  if (effects.creations <= 0 && effects.deletions.empty()) return Forget(key);
  const TimePoint expires_at = SaturatingAdd(clock_.Now(), timeout_);
  entries_.Lock()->insert_or_assign(
      key, Expected{.effects = std::move(effects), .expires_at = expires_at});
}

void Expectations::CreationObserved(const ObjectKey& key) {
  auto entries = entries_.Lock();
  const auto found = entries->find(key);
  if (found == entries->end()) return;
  --found->second.effects.creations;
  EraseIfObserved(*entries, found);
}

void Expectations::DeletionObserved(const ObjectKey& key, const std::string& uid) {
  auto entries = entries_.Lock();
  const auto found = entries->find(key);
  if (found == entries->end()) return;
  found->second.effects.deletions.erase(uid);
  EraseIfObserved(*entries, found);
}

bool Expectations::Satisfied(const ObjectKey& key) {
  const TimePoint now = clock_.Now();
  auto entries = entries_.Lock();
  const auto found = entries->find(key);
  if (found == entries->end()) return true;
  if (now < found->second.expires_at) return false;
  entries->erase(found);
  return true;
}

void Expectations::Forget(const ObjectKey& key) { entries_.Lock()->erase(key); }

void Expectations::EraseIfObserved(Entries& entries, Entries::iterator entry) {
  const Effects& effects = entry->second.effects;
  if (effects.creations <= 0 && effects.deletions.empty()) entries.erase(entry);
}

}  // namespace kopp
