#pragma once

#include "conformance.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {

/// An object to create, and what the server makes of it.
struct StoredObject {
  std::string test_name{};
  std::string group_version{};
  std::string plural{};
  std::string sent{};
  std::string stored{};  ///< without kind, apiVersion and metadata
  std::string cells{};   ///< of its row in a Table: NAME is its name, TIME its creation time
};
inline void PrintTo(const StoredObject& object, std::ostream* out) { *out << object.test_name; }
inline std::string StoredObjectTestName(const ::testing::TestParamInfo<StoredObject>& object) {
  return object.param.test_name;
}

/// An object that the server rejects, and the expected causes.
struct InvalidKind {
  std::string test_name{};
  std::string group_version{};
  std::string plural{};
  std::string sent{};
  std::vector<std::string> causes{};  ///< NAME is the name of the object
};
inline void PrintTo(const InvalidKind& object, std::ostream* out) { *out << object.test_name; }
inline std::string InvalidKindTestName(const ::testing::TestParamInfo<InvalidKind>& object) {
  return object.param.test_name;
}

/// A merge patch that the server rejects, and the expected causes.
struct RejectedUpdate {
  std::string test_name{};
  std::string group_version{};
  std::string plural{};
  std::string created{};
  std::string patch{};
  std::vector<std::string> causes{};
};
inline void PrintTo(const RejectedUpdate& update, std::ostream* out) { *out << update.test_name; }
inline std::string RejectedUpdateTestName(const ::testing::TestParamInfo<RejectedUpdate>& update) {
  return update.param.test_name;
}

/// Fixture for objects of any kind. Deletes the cluster-scoped objects of the test.
class KindTest : public ConformanceTest {
 protected:
  ~KindTest() override;

  /// Returns the path of a collection, in this test's namespace if the kind has namespaces.
  std::string CollectionPath(const std::string& group_version, const std::string& plural);
  /// Creates the object in `fields`, with a unique name unless it has one.
  JsonResponse Create(const std::string& collection, json fields);
  /// Returns the path of the object that the last call of Create() created.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::vector<std::string> created_;
};

class StoredObjectTest : public KindTest, public ::testing::WithParamInterface<StoredObject> {};
class InvalidKindTest : public KindTest, public ::testing::WithParamInterface<InvalidKind> {};
class RejectedUpdateTest : public KindTest, public ::testing::WithParamInterface<RejectedUpdate> {};

}  // namespace kopp::conformance
