// Tests of approval, status and selection of CertificateSigningRequests.
#include "kinds/kinds.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A certificate request for /CN=a/O=b.
const std::string encoded_request =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIUk1Ib0NBUUF3R0RFS01BZ0dBMVVFQXd3"
    "QllURUtNQWdHQTFVRUNnd0JZakJaTUJNR0J5cUdTTTQ5QWdFRwpDQ3FHU000OUF3RUhBMElBQk9NcGZCRTBR"
    "WnBoZjN3RlkwbGVhMXE3ckFCNXR5ZUdEVVNVc3hTbk1hcVd0eHZrCm96WWtsRDZuVDN5RndXZk5DVnFJeHBs"
    "akxXZGdLcTgydDI1a1JuS2dBREFLQmdncWhrak9QUVFEQWdOSEFEQkUKQWlBd3NnalVnbmFuN2JXeHo1RDU5"
    "cGNlTHNaVmhkRGQvbzZOTTZYeXpGdnZ2Z0lnTUlWWEMzdllpWUFVYVBxZgp6U0w3TzZPK2wvKysvcHMzY090"
    "STdTNUNKNk09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";

class CertificateRequestTest : public KindTest {
 protected:
  JsonResponse CreateRequest(const std::string& signer = "example.com/a") {
    return Create("/apis/certificates.k8s.io/v1/certificatesigningrequests",
                  {{"spec",
                    {{"request", encoded_request},
                     {"signerName", signer},
                     {"usages", {"client auth"}},
                     {"username", "another"}}}});
  }
  JsonResponse Approve() {
    return MergePatch(path() + "/approval", R"({"status": {"certificate": "YQ==", "conditions": [
        {"type": "Approved", "status": "True", "reason": "r", "message": "m"}]}})"_json);
  }
  [[nodiscard]] json Cells() const {
    return Call({.target = path(), .accept = "application/json;as=Table;v=v1;g=meta.k8s.io"})
        .at("/rows/0/cells");
  }
};

TEST_F(CertificateRequestTest, TheRequesterIsTheUser) {
  const JsonResponse created = CreateRequest();

  ASSERT_EQ(created.status, 201) << created.text;
  EXPECT_NE(created.str("/spec/username"), "another");
  EXPECT_NE(created.str("/spec/username"), "");
  EXPECT_TRUE(created.at("/spec/groups").is_array());
  EXPECT_EQ(created.at("/status"), json::object());
  EXPECT_EQ(created.at("/metadata/managedFields"), nullptr);
}

TEST_F(CertificateRequestTest, ANameThatIsNoPathSegmentIsInvalid) {
  json request{{"metadata", {{"name", "a/b"}}},
               {"spec",
                {{"request", encoded_request},
                 {"signerName", "example.com/a"},
                 {"usages", {"client auth"}}}}};

  const JsonResponse created =
      Post("/apis/certificates.k8s.io/v1/certificatesigningrequests", request);

  EXPECT_EQ(created.status, 422);
  EXPECT_THAT(created.message(), HasSubstr("metadata.name: Invalid value: \"a/b\""));
}

TEST_F(CertificateRequestTest, AnUpdateOfTheObjectChangesOnlyItsMetadata) {
  CreateRequest();

  const JsonResponse updated = MergePatch(path(), R"({
      "metadata": {"labels": {"a": "b"}}, "spec": {"signerName": "b.c/d"},
      "status": {"conditions": [{"type": "Approved", "status": "True"}]}})"_json);

  EXPECT_EQ(updated.str("/metadata/labels/a"), "b");
  EXPECT_EQ(updated.str("/spec/signerName"), "example.com/a");
  EXPECT_EQ(updated.at("/status"), json::object());
}

TEST_F(CertificateRequestTest, TheSubresourceApprovalAddsAConditionButNoCertificate) {
  CreateRequest();
  EXPECT_EQ(Cells()[5], "Pending");

  const JsonResponse approved = Approve();

  ASSERT_EQ(approved.status, 200) << approved.text;
  EXPECT_EQ(approved.str("/status/conditions/0/type"), "Approved");
  EXPECT_NE(approved.str("/status/conditions/0/lastUpdateTime"), "");
  EXPECT_NE(approved.str("/status/conditions/0/lastTransitionTime"), "");
  EXPECT_EQ(approved.at("/status/certificate"), nullptr);
  EXPECT_EQ(Cells()[5], "Approved");
}

TEST_F(CertificateRequestTest, AnApprovalIsNeverRemoved) {
  CreateRequest();
  Approve();

  const JsonResponse response =
      MergePatch(path() + "/approval", R"({"status": {"conditions": []}})"_json);

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueForbidden status.conditions: Forbidden: updates may not "
                          "remove a condition of type \"Approved\""));
}

TEST_F(CertificateRequestTest, ApprovalAndDenialExcludeEachOther) {
  CreateRequest();

  const JsonResponse response = MergePatch(path() + "/approval", R"({"status": {"conditions": [
      {"type": "Approved", "status": "False"}, {"type": "Denied", "status": "True"},
      {"type": "x", "status": ""}, {"type": "", "status": "True"}]}})"_json);

  EXPECT_THAT(
      Causes(response),
      ElementsAre("FieldValueNotSupported status.conditions[0].status: Unsupported value: "
                  "\"False\": supported values: \"True\"",
                  "FieldValueInvalid status.conditions: Invalid value: \"Denied\": Approved and "
                  "Denied conditions are mutually exclusive",
                  "FieldValueRequired status.conditions[2].status: Required value",
                  "FieldValueRequired status.conditions[3].type: Required value"));
}

TEST_F(CertificateRequestTest, TheSubresourceStatusDoesNotApprove) {
  CreateRequest();

  const JsonResponse response = MergePatch(path() + "/status", R"({"status": {"conditions": [
      {"type": "Approved", "status": "True"}, {"type": "Failed", "status": "True"}]}})"_json);

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueForbidden status.conditions: Forbidden: updates may not add "
                          "a condition of type \"Approved\""));
}

TEST_F(CertificateRequestTest, ACertificateThatIsNotPemIsRejected) {
  CreateRequest();

  const JsonResponse response =
      MergePatch(path() + "/status", R"({"status": {"certificate": "YQ=="}})"_json);

  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueInvalid status.certificate: Invalid value: \"<certificate "
                          "data>\": must contain at least one CERTIFICATE PEM block"));
}

TEST_F(CertificateRequestTest, SignerNamesAreDomainsWithAPath) {
  const auto causes = [&](const std::string& signer) { return Causes(CreateRequest(signer)); };

  EXPECT_THAT(causes("example/a/b"),
              ElementsAre("FieldValueInvalid spec.signerName: Invalid value: \"example/a/b\": must "
                          "be a fully qualified domain and path of the form "
                          "'example.com/signer-name'"));
  EXPECT_THAT(causes("kubernetes.io/legacy-unknown"),
              ElementsAre("FieldValueInvalid spec.signerName: Invalid value: "
                          "\"kubernetes.io/legacy-unknown\": the legacy signerName is not allowed "
                          "via this API version"));
}

TEST_F(CertificateRequestTest, RequestsAreSelectedBySigner) {
  const std::string signer = "example.com/" + UniqueName("signer");
  const JsonResponse created = CreateRequest(signer);
  const std::string requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

  EXPECT_THAT(ItemNames(Get(requests + "?fieldSelector=spec.signerName%3D" + signer)),
              ElementsAre(created.name()));
  EXPECT_EQ(Get(requests + "?fieldSelector=spec.x%3D1").message(),
            "field label not supported: spec.x");
}

}  // namespace
}  // namespace kopp::conformance
