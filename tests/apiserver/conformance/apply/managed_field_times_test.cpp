#include "conformance.hpp"
#include "managed_fields.hpp"

#include <functional>
#include <string>

#include <kopp/workqueue/clock.hpp>

namespace kopp::conformance {
namespace {

/// Tests of the times in metadata.managedFields, which are in seconds. OwnEvents of kopp recognizes
/// by them whether a response shows the effect of its write.
class ManagedFieldTimesTest : public SharedObjectTest {
 protected:
  JsonResponse UpdateData(const std::string& value) {
    return MergePatch(ObjectPath() + "?fieldManager=me", {{"data", {{"k", value}}}});
  }
  JsonResponse ApplyValue(const std::string& value) { return ApplyData({{"k", value}}, "me"); }

  static std::string TimeOf(const JsonResponse& response) {
    return response.str("/metadata/managedFields/0/time");
  }
  /// Repeats a write with new values until the time of its entry is later. A write that did not set
  /// it would have no later time for ever, so there is a limit.
  static JsonResponse WriteUntilLater(
      const JsonResponse& before, const std::function<JsonResponse(const std::string&)>& write) {
    const TimePoint limit = Clock::Real().Now() + 30s;
    JsonResponse written = before;
    for (int i = 0; TimeOf(written) <= TimeOf(before) && Clock::Real().Now() < limit; ++i) {
      written = write(std::to_string(i));
    }
    return written;
  }
};

TEST_F(ManagedFieldTimesTest, AnUpdateOfAnOwnedFieldSetsTheTimeOfItsEntry) {
  const JsonResponse first = Post(Path("configmaps") + "?fieldManager=me",
                                  {{"metadata", {{"name", "a"}}}, {"data", {{"k", "first"}}}});
  EXPECT_EQ(first.status, 201) << first.text;

  const JsonResponse last =
      WriteUntilLater(first, [this](const std::string& value) { return UpdateData(value); });

  EXPECT_GT(TimeOf(last), TimeOf(first));
  EXPECT_EQ(ManagedFields(last), ManagedFields(first));
}

TEST_F(ManagedFieldTimesTest, AnApplyOfAnOwnedFieldSetsTheTimeOfItsEntry) {
  const JsonResponse first = ApplyValue("first");

  const JsonResponse last =
      WriteUntilLater(first, [this](const std::string& value) { return ApplyValue(value); });

  EXPECT_GT(TimeOf(last), TimeOf(first));
  EXPECT_EQ(ManagedFields(last), ManagedFields(first));
}

TEST_F(ManagedFieldTimesTest, AWriteThatChangesNothingKeepsTheVersionAndTheTimes) {
  const JsonResponse created = ApplyValue("same");
  // Another object shows that a second has passed.
  const auto write_other = [this](const std::string& value) {
    return Apply(Path("configmaps") + "/b",
                 {{"apiVersion", "v1"},
                  {"kind", "ConfigMap"},
                  {"metadata", {{"name", "b"}}},
                  {"data", {{"k", value}}}},
                 "me");
  };
  WriteUntilLater(created, write_other);

  for (const JsonResponse& written : {ApplyValue("same"), UpdateData("same")}) {
    EXPECT_EQ(written.resource_version(), created.resource_version()) << written.text;
    EXPECT_EQ(written.at("/metadata/managedFields"), created.at("/metadata/managedFields"));
  }
}

}  // namespace
}  // namespace kopp::conformance
