#include "widget.hpp"

#include <gtest/gtest.h>

#include <kopp/informer/metadata_only.hpp>

namespace kopp {
namespace {

using testing::Widget;

TEST(MetadataOnlyTest, IsAViewOfTheSameKindThatDecodesMetadataAndSkipsAllOtherFields) {
  static_assert(ApiObject<MetadataOnly<Widget>>);
  static_assert(detail::kIsMetadataOnly<MetadataOnly<Widget>>);
  static_assert(!detail::kIsMetadataOnly<Widget>);

  const auto object = Decode<MetadataOnly<Widget>>(
      R"({"metadata":{"name":"w","labels":{"app":"web"}},"spec":"not the type of the view"})");

  EXPECT_EQ(MetadataOnly<Widget>::kKind.kind, Widget::kKind.kind);
  EXPECT_EQ(object.metadata.name, "w");
  EXPECT_EQ(object.metadata.labels.at("app"), "web");
}

}  // namespace
}  // namespace kopp
