#include "transport/renewal_schedule.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace kopp::testing {
namespace {

using namespace std::chrono_literals;
using detail::RenewalSchedule;

constexpr TimePoint kStart{1h};
constexpr WallTime kWallStart{24h};

// Returns whether the files, or the plugin, are due at the given time after kStart.
bool FilesAreDue(RenewalSchedule& schedule, Duration after) {
  const auto due = schedule.Start(kStart + after, kWallStart + after);
  return due && due->files;
}
bool PluginIsDue(RenewalSchedule& schedule, Duration after) {
  const auto due = schedule.Start(kStart + after, kWallStart + after);
  return due && due->plugin;
}

TEST(RenewalScheduleTest, NothingIsDueWithoutFilesAndPlugin) {
  RenewalSchedule schedule(false, false, kStart);
  schedule.Reject();

  EXPECT_EQ(schedule.Start(kStart + 1h, kWallStart), std::nullopt);
  EXPECT_TRUE(schedule.HasUsableCredentials(kWallStart));
}

TEST(RenewalScheduleTest, FilesAreDueOnceAMinute) {
  RenewalSchedule schedule(true, false, kStart);

  EXPECT_FALSE(FilesAreDue(schedule, 59s));
  EXPECT_TRUE(FilesAreDue(schedule, 60s));
  EXPECT_FALSE(FilesAreDue(schedule, 119s));
  EXPECT_TRUE(FilesAreDue(schedule, 120s));
}

TEST(RenewalScheduleTest, FilesAreDueAfterARejection) {
  RenewalSchedule schedule(true, false, kStart);
  schedule.Reject();

  EXPECT_TRUE(FilesAreDue(schedule, 1s));
  EXPECT_FALSE(FilesAreDue(schedule, 2s));
}

TEST(RenewalScheduleTest, FilesAreDueAtMostOnceASecondAfterRejections) {
  RenewalSchedule schedule(true, false, kStart);
  schedule.Reject();
  EXPECT_TRUE(FilesAreDue(schedule, 1s));

  schedule.Reject();
  EXPECT_FALSE(FilesAreDue(schedule, 1999ms));
  EXPECT_TRUE(FilesAreDue(schedule, 2s));
}

TEST(RenewalScheduleTest, PluginIsDueUntilItHasSucceeded) {
  RenewalSchedule schedule(false, true, kStart);

  EXPECT_FALSE(schedule.HasUsableCredentials(kWallStart));
  EXPECT_TRUE(PluginIsDue(schedule, 0s));
  schedule.FinishPlugin(std::nullopt);
  EXPECT_TRUE(schedule.HasUsableCredentials(kWallStart));
  EXPECT_FALSE(PluginIsDue(schedule, 1000h));
}

TEST(RenewalScheduleTest, PluginThatFailedIsDueTenSecondsAfterItsStart) {
  RenewalSchedule schedule(false, true, kStart);
  EXPECT_TRUE(PluginIsDue(schedule, 0s));
  schedule.FailPlugin();

  EXPECT_FALSE(PluginIsDue(schedule, 9s));
  EXPECT_TRUE(PluginIsDue(schedule, 10s));
}

TEST(RenewalScheduleTest, PluginIsDueWhenItsCredentialExpires) {
  RenewalSchedule schedule(false, true, kStart);
  EXPECT_TRUE(PluginIsDue(schedule, 0s));
  schedule.FinishPlugin(kWallStart + 5s);

  EXPECT_FALSE(PluginIsDue(schedule, 4s));
  EXPECT_TRUE(schedule.HasUsableCredentials(kWallStart + 4s));
  EXPECT_FALSE(schedule.HasUsableCredentials(kWallStart + 5s));
  EXPECT_TRUE(PluginIsDue(schedule, 5s));
}

TEST(RenewalScheduleTest, PluginIsDueOnceAfterARejectionAndAgainTenSecondsLater) {
  RenewalSchedule schedule(false, true, kStart);
  EXPECT_TRUE(PluginIsDue(schedule, 0s));
  schedule.FinishPlugin(std::nullopt);

  schedule.Reject();
  EXPECT_TRUE(PluginIsDue(schedule, 1s));
  schedule.FinishPlugin(std::nullopt);
  schedule.Reject();
  EXPECT_FALSE(PluginIsDue(schedule, 2s));
  EXPECT_FALSE(PluginIsDue(schedule, 10s));
  EXPECT_TRUE(PluginIsDue(schedule, 11s));
}

TEST(RenewalScheduleTest, RejectedCredentialsStayUsable) {
  RenewalSchedule schedule(false, true, kStart);
  EXPECT_TRUE(PluginIsDue(schedule, 0s));
  schedule.FinishPlugin(std::nullopt);
  schedule.Reject();

  EXPECT_TRUE(schedule.HasUsableCredentials(kWallStart));
}

}  // namespace
}  // namespace kopp::testing
