// Ownership of items that occur twice in a list map, which is possible in built-in kinds.
#include "managed_fields.hpp"

#include <string>

namespace kopp::conformance {
namespace {

class DuplicateItemsTest : public ConformanceTest {
 protected:
  /// Returns a PodTemplate with these environment variables.
  static json MakeTemplate(const json& env) {
    json pod_template = MakeObjectWithName("a");
    pod_template["template"]["metadata"]["labels"]["a"] = "b";
    pod_template["template"]["spec"]["containers"] = {
        {{"name", "a"}, {"image", "a"}, {"env", env}}};
    return pod_template;
  }
  /// Returns the fields of the variable A that the creator of an object owns.
  static json OwnedFieldsOfA(const JsonResponse& response) {
    const json& fields = response.at("/metadata/managedFields/0/fieldsV1/f:template/f:spec");
    return fields.at("f:containers").at(R"(k:{"name":"a"})").at("f:env").at(R"(k:{"name":"A"})");
  }

  const json once_ = R"([{"name": "A", "value": "1"}])"_json;
  const json twice_ = R"([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}])"_json;
  const json item_fields_ = R"({".": {}, "f:name": {}, "f:value": {}})"_json;
};

TEST_F(DuplicateItemsTest, TheFieldsOfDuplicatesHaveNoOwners) {
  EXPECT_EQ(OwnedFieldsOfA(Post(Path("podtemplates"), MakeTemplate(once_))), item_fields_);

  const JsonResponse updated = Put(Path("podtemplates") + "/a", MakeTemplate(twice_));

  EXPECT_EQ(OwnedFieldsOfA(updated), json::object());
}

TEST_F(DuplicateItemsTest, TheFieldsOfAnItemThatIsUniqueAgainHaveOwners) {
  EXPECT_EQ(OwnedFieldsOfA(Post(Path("podtemplates"), MakeTemplate(twice_))), json::object());

  const JsonResponse updated = Put(Path("podtemplates") + "/a", MakeTemplate(once_));

  EXPECT_EQ(OwnedFieldsOfA(updated), item_fields_);
}

}  // namespace
}  // namespace kopp::conformance
