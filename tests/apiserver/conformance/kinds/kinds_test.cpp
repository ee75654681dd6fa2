#include "kinds/kinds.hpp"

#include "tables.hpp"

#include <set>

namespace kopp::conformance {
namespace {

/// Replaces all occurrences of `from` in `text`.
std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from)) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

KindTest::~KindTest() {
  for (const std::string& path : created_) {
    MergePatch(path, {{"metadata", {{"finalizers", nullptr}}}});
    Delete(path);
  }
}

std::string KindTest::CollectionPath(const std::string& group_version, const std::string& plural) {
  static const std::set<std::string> namespaced{"csistoragecapacities", "endpointslices",
                                                "horizontalpodautoscalers"};
  return namespaced.contains(plural)
             ? Path(group_version, plural)
             : (group_version == "v1" ? "/api/" : "/apis/") + group_version + '/' + plural;
}

JsonResponse KindTest::Create(const std::string& collection, json fields) {
  if (!fields["metadata"].contains("name")) fields["metadata"]["name"] = UniqueName("kind");
  JsonResponse created = Post(collection, fields);
  if (created.status == 201) {
    path_ = collection + '/' + created.name();
    created_.push_back(path_);
  }
  return created;
}

TEST_P(StoredObjectTest, CreateStoresTheDefaultsOfTheKind) {
  const StoredObject& expected = GetParam();
  const JsonResponse created =
      Create(CollectionPath(expected.group_version, expected.plural), json::parse(expected.sent));

  ASSERT_EQ(created.status, 201) << created.text;
  json stored = created.body;
  for (const char* field : {"kind", "apiVersion", "metadata"}) stored.erase(field);
  EXPECT_EQ(json::diff(json::parse(expected.stored), stored), json::array());
}

TEST_P(StoredObjectTest, TableHasTheCellsOfTheKind) {
  const StoredObject& expected = GetParam();
  const JsonResponse created =
      Create(CollectionPath(expected.group_version, expected.plural), json::parse(expected.sent));
  ASSERT_EQ(created.status, 201) << created.text;

  const JsonResponse table = Call({.target = path(), .accept = table_type});

  std::string cells = Replaced(RowCells(table.body).dump(), created.name(), "NAME");
  cells = Replaced(cells, created.str("/metadata/creationTimestamp"), "TIME");
  EXPECT_EQ(json::parse(cells), json::parse(expected.cells));
}

TEST_P(InvalidKindTest, InvalidObjectIsRejectedWithItsCauses) {
  const InvalidKind& expected = GetParam();
  json object = json::parse(expected.sent);
  object["metadata"]["name"] = UniqueName("kind");
  const JsonResponse response =
      Create(CollectionPath(expected.group_version, expected.plural), object);

  EXPECT_EQ(response.status, 422) << response.text;
  std::vector<std::string> causes = Causes(response);
  for (std::string& cause : causes) cause = Replaced(cause, object["metadata"]["name"], "NAME");
  EXPECT_EQ(causes, expected.causes);
}

TEST_P(RejectedUpdateTest, UpdateIsRejectedWithItsCauses) {
  const RejectedUpdate& expected = GetParam();
  const JsonResponse created = Create(CollectionPath(expected.group_version, expected.plural),
                                      json::parse(expected.created));
  ASSERT_EQ(created.status, 201) << created.text;

  const JsonResponse response = MergePatch(path(), json::parse(expected.patch));

  EXPECT_EQ(response.status, 422) << response.text;
  EXPECT_EQ(Causes(response), expected.causes);
}

}  // namespace kopp::conformance
