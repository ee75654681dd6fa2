#include "manager/write_loop_reporter.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

detail::WriteLoop LoopOf(const std::string& name, const std::string& field) {
  detail::WriteLoop loop;
  loop.kind.kind = "Foo";
  loop.key = {"shop", name};
  loop.fields = {field};
  loop.writers = {"a", "b"};
  return loop;
}

TEST(WriteLoopReporterTest, TheMetricHasAtMostOneTimeSeriesForEachNamedObject) {
  Metrics metrics;
  WriteLoopReporter reporter{Logger({.write = [](std::string_view) {}}), &metrics};
  reporter.Report(LoopOf("first", "data.x"), "");
  reporter.Report(LoopOf("first", "data.y"), "");
  for (std::size_t i = 0; i < WriteLoopReporter::kMaxNamedObjects + 5; ++i) {
    reporter.Report(LoopOf(std::to_string(i), "data.tenant-" + std::to_string(i)), "");
  }

  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr(R"(kopp_write_loops_total{fields="data.x",kind="Foo",name="first",)"
                              R"(namespace="shop",writers="a, b"} 2)"));
  EXPECT_THAT(text, Not(HasSubstr("data.y")));
  EXPECT_THAT(text, HasSubstr(R"(kopp_write_loops_total{fields="",kind="Foo",name="",)"
                              R"(namespace="",writers=""} 6)"));
}

}  // namespace
}  // namespace kopp
