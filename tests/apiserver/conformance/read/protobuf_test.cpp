// Requests and responses in the protobuf encoding of Kubernetes.
#include "protobuf/protobuf.hpp"

#include "custom_resources.hpp"
#include "support/hang_timeout.hpp"

#include <iterator>
#include <string>

namespace kopp::conformance {
namespace {

using ::testing::HasSubstr;

const std::string protobuf_type = "application/vnd.kubernetes.protobuf";
const std::string protobuf_metadata_type =
    protobuf_type + ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
const std::string prefix("k8s\0", 4);

bool IsProtobuf(const JsonResponse& response) { return response.text.starts_with(prefix); }

std::string Encode(const json& object) { return apiserver::EncodeProtobuf(object).value(); }

json DecodeText(const std::string& text) {
  return apiserver::DecodeProtobuf(apiserver::ReadProtobufEnvelope(text)).value();
}

/// Removes nulls, which protobuf does not have.
json WithoutNulls(json value) {
  if (!value.is_structured()) return value;
  for (auto item = value.begin(); item != value.end();) {
    item = item->is_null() && value.is_object() ? value.erase(item) : std::next(item);
  }
  for (json& item : value) item = WithoutNulls(item);
  return value;
}

/// Encodes a field of a message with less than 128 bytes.
std::string Bytes(int number, const std::string& bytes) {
  return static_cast<char>(number << 3 | 2) + std::string(1, static_cast<char>(bytes.size())) +
         bytes;
}

class ProtobufTest : public ConformanceTest {
 protected:
  static JsonResponse GetAs(const std::string& accept, const std::string& target) {
    return Call({.target = target, .accept = accept});
  }

  /// Returns the response to a request for protobuf in its JSON form; null if it is no protobuf.
  static json GetDecoded(const std::string& target, const std::string& accept = protobuf_type) {
    const JsonResponse response = GetAs(accept, target);
    return IsProtobuf(response) ? DecodeText(response.text) : json();
  }

  static JsonResponse Send(const std::string& method, const std::string& target,
                           const std::string& body,
                           const std::string& accept = "application/json") {
    return Call({.method = method,
                 .target = target,
                 .body = body,
                 .content_type = protobuf_type,
                 .accept = accept});
  }

  /// A document that was read in both encodings.
  struct InBoth {
    json expected;  ///< read in JSON, without nulls
    json decoded;   ///< read in protobuf
  };

  /// Reads a document in both encodings, again if it has changed in between: components of a real
  /// server write at any time, and each write changes the version of all lists.
  static InBoth GetInBoth(const std::string& target) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      InBoth read{WithoutNulls(Get(target).body), GetDecoded(target)};
      if (WithoutNulls(Get(target).body) == read.expected) return read;
    }
    ADD_FAILURE() << target << " has changed during each of 20 attempts";
    return {};
  }

  /// Returns the JSON patch from the document in JSON to the document in protobuf.
  static json DiffOfBoth(const std::string& target) {
    const InBoth read = GetInBoth(target);
    return json::diff(read.expected, read.decoded);
  }

  /// Creates an object from JSON, and requires that the responses to GET and list are the same in
  /// both encodings.
  static void ExpectSameInBoth(const std::string& path, json object) {
    object["metadata"]["name"] = UniqueName("a");
    const JsonResponse created = Post(path, object);
    ASSERT_EQ(created.status, 201) << created.text;
    const std::string target = path + '/' + created.name();
    EXPECT_EQ(DiffOfBoth(target), json::array());
    EXPECT_EQ(DiffOfBoth(path), json::array());
    Delete(target);
  }
};

TEST_F(ProtobufTest, ReviewIsSentAndReceivedInProtobuf) {
  const json review{{"apiVersion", "authorization.k8s.io/v1"},
                    {"kind", "SubjectAccessReview"},
                    {"spec",
                     {{"user", "jane"},
                      {"extra", {{"scope", {"a", "b"}}}},
                      {"resourceAttributes", {{"verb", "get"}, {"resource", "pods"}}}}}};

  const JsonResponse created = Send("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                                    Encode(review), protobuf_type);

  EXPECT_EQ(created.status, 201);
  ASSERT_TRUE(IsProtobuf(created));
  const json decoded = DecodeText(created.text);
  EXPECT_EQ(decoded["spec"]["extra"], json({{"scope", {"a", "b"}}}));
  EXPECT_EQ(decoded["status"]["allowed"], false);
}

TEST_F(ProtobufTest, EvictionIsSentInProtobuf) {
  const std::string pods = PodsPath();
  Post(pods, MakePod("a"));

  const JsonResponse evicted = Send(
      "POST", pods + "/a/eviction",
      Encode({{"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", "a"}}}}));

  EXPECT_EQ(evicted.status, 201);
  EXPECT_EQ(Get(pods + "/a").status, 404);
}

TEST_F(ProtobufTest, ObjectsAreTheSameInBothEncodings) {
  ExpectSameInBoth(Path("apps/v1", "deployments"), MakeDeployment(""));
  ExpectSameInBoth(Path("configmaps"), R"({"data": {"a": ""}, "binaryData": {"b": "AP8="}})"_json);
  ExpectSameInBoth(Path("secrets"), R"({"stringData": {"a": "b"}, "immutable": false})"_json);
  ExpectSameInBoth(Path("services"),
                   R"({"spec": {"ports": [{"name": "a", "port": 80, "targetPort": "http"},
      {"name": "b", "port": 81, "targetPort": 8081}], "selector": {"a": "b"}}})"_json);
  ExpectSameInBoth(Path("coordination.k8s.io/v1", "leases"), R"({"spec": {"holderIdentity": "",
      "acquireTime": "2026-01-02T03:04:05.678901Z", "leaseDurationSeconds": 15}})"_json);
  ExpectSameInBoth(Path("resourcequotas"), R"({"spec": {"hard": {"cpu": "1500m"}}})"_json);
  ExpectSameInBoth(Path("networking.k8s.io/v1", "ingresses"), R"({"spec": {"rules": [{"host": "a.b",
      "http": {"paths": [{"path": "/", "pathType": "Prefix",
        "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]}})"_json);
  ExpectSameInBoth(
      Path("rbac.authorization.k8s.io/v1", "roles"),
      R"({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]})"_json);
}

TEST_F(ProtobufTest, AdmissionAndScalingKindsAreTheSameInBothEncodings) {
  ExpectSameInBoth("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                   R"({"webhooks": [{"name": "a.b.c", "clientConfig": {"url": "https://a",
      "caBundle": "YQ=="}, "sideEffects": "None", "admissionReviewVersions": ["v1"]}]})"_json);
  ExpectSameInBoth(Path("autoscaling/v2", "horizontalpodautoscalers"),
                   R"({"spec": {"maxReplicas": 3, "behavior": {}, "scaleTargetRef": {
      "apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}})"_json);
  ExpectSameInBoth(Path("discovery.k8s.io/v1", "endpointslices"),
                   R"({"addressType": "IPv4", "ports": [{"port": 80}],
      "endpoints": [{"addresses": ["10.1.2.3"], "conditions": {"ready": true}}]})"_json);
  ExpectSameInBoth("/apis/storage.k8s.io/v1/storageclasses", R"({"provisioner": "p"})"_json);
  ExpectSameInBoth("/apis/scheduling.k8s.io/v1/priorityclasses", R"({"value": 1})"_json);
  EXPECT_EQ(DiffOfBoth("/apis/apiregistration.k8s.io/v1/apiservices/v1.apps"), json::array());
}

TEST_F(ProtobufTest, PodsAreTheSameInBothEncodings) {
  json pod = MakePod("");
  pod["spec"]["volumes"] = R"([{"name": "e", "emptyDir": {"sizeLimit": "1Gi"}}])"_json;
  pod["spec"]["containers"][0].update(R"({
      "readinessProbe": {"httpGet": {"port": "http", "path": "/"}, "periodSeconds": 5},
      "env": [{"name": "a", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
      "resources": {"limits": {"memory": "64Mi"}}})"_json);

  ExpectSameInBoth(PodsPath(), pod);
}

TEST_F(ProtobufTest, ACustomResourceDefinitionIsTheSameInBothEncodings) {
  const std::string group = UniqueName("g") + ".example.com";
  const json crd = MakeWidgetCrd(
      group,
      ObjectSchema({{"a", {{"type", "integer"}, {"default", 1}, {"minimum", 0}}},
                    {"b", {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}}},
                    {"c", {{"x-kubernetes-int-or-string", true}}}}));
  Post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);

  EXPECT_EQ(DiffOfBoth(WidgetCrdPath(group)), json::array());
  Delete(WidgetCrdPath(group));
}

TEST_F(ProtobufTest, AnObjectIsCreatedFromProtobuf) {
  json deployment = MakeDeployment("a");
  deployment["apiVersion"] = "apps/v1";
  deployment["kind"] = "Deployment";

  const JsonResponse created =
      Send("POST", Path("apps/v1", "deployments"), Encode(deployment), protobuf_type);

  ASSERT_EQ(created.status, 201) << created.text;
  deployment["metadata"]["name"] = "b";
  json from_json = Post(Path("apps/v1", "deployments"), deployment).body;
  EXPECT_EQ(DecodeText(created.text)["spec"], WithoutNulls(from_json["spec"]));
}

TEST_F(ProtobufTest, AnObjectIsUpdatedFromProtobuf) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  json config_map = GetDecoded(Path("configmaps") + "/a");
  config_map["data"] = {{"k", "changed"}};

  const JsonResponse updated = Send("PUT", Path("configmaps") + "/a", Encode(config_map));

  EXPECT_EQ(updated.status, 200);
  EXPECT_EQ(updated.str("/data/k"), "changed");
}

TEST_F(ProtobufTest, AnObjectWithoutAKindHasTheKindOfThePath) {
  const JsonResponse created =
      Send("POST", Path("configmaps"), prefix + Bytes(2, Bytes(1, Bytes(1, "a"))));

  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.name(), "a");
}

TEST_F(ProtobufTest, DeleteOptionsAreReadFromProtobuf) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const JsonResponse conflict = Send(
      "DELETE", Path("configmaps") + "/a",
      Encode(
          {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"preconditions", {{"uid", "other"}}}}),
      protobuf_type);

  EXPECT_EQ(conflict.status, 409);
  EXPECT_EQ(DecodeText(conflict.text)["reason"], "Conflict");
}

TEST_F(ProtobufTest, DeletingReturnsAStatusInProtobuf) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const JsonResponse deleted =
      Call({.method = "DELETE", .target = Path("configmaps") + "/a", .accept = protobuf_type});

  EXPECT_EQ(DecodeText(deleted.text)["status"], "Success");
}

TEST_F(ProtobufTest, ErrorsAreTheSameInBothEncodings) {
  for (const std::string& target :
       {Path("configmaps") + "/absent", Path("nothing"), Path("configmaps") + "?limit=x"}) {
    EXPECT_EQ(GetDecoded(target), WithoutNulls(Get(target).body)) << target;
  }
}

TEST_F(ProtobufTest, BodiesThatAreNotValidAreRejected) {
  const auto message = [&](const std::string& body) {
    const JsonResponse response = Send("POST", Path("configmaps"), body);
    EXPECT_EQ(response.status, 400) << response.text;
    return response.message();
  };
  const std::string type = Bytes(1, Bytes(1, "v1") + Bytes(2, "ConfigMap"));

  EXPECT_EQ(message("abcdefg"),
            "the object provided is unrecognized (must be of type ConfigMap): provided data does "
            "not appear to be a protobuf message, expected prefix [107 56 115 0] (61626364656667)");
  EXPECT_THAT(message(prefix + type + "\x12"), HasSubstr("unexpected EOF"));
  EXPECT_EQ(message(prefix + type + Bytes(2, Bytes(1, "\x08\x01"))),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: proto: wrong wireType = "
            "0 for field Name");
}

TEST_F(ProtobufTest, TheFirstSupportedMediaTypeIsSelected) {
  const std::string target = Path("configmaps");
  EXPECT_TRUE(IsProtobuf(GetAs(protobuf_type + ",application/json", target)));
  EXPECT_FALSE(IsProtobuf(GetAs("application/json," + protobuf_type, target)));
  EXPECT_TRUE(IsProtobuf(GetAs("application/json;q=0.5," + protobuf_type, target)));
  EXPECT_TRUE(IsProtobuf(GetAs("application/unknown," + protobuf_type, target)));
  EXPECT_FALSE(IsProtobuf(GetAs("*/*", target)));
}

TEST_F(ProtobufTest, MetadataIsTheSameInBothEncodings) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const std::string target = Path("configmaps") + "/a";

  EXPECT_EQ(GetDecoded(target, protobuf_metadata_type),
            GetAs("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", target).body);
}

TEST_F(ProtobufTest, ATableIsNotAvailableInProtobuf) {
  const JsonResponse table =
      GetAs(protobuf_type + ";as=Table;v=v1;g=meta.k8s.io", Path("configmaps"));

  EXPECT_EQ(table.status, 406);
  EXPECT_EQ(table.reason(), "NotAcceptable");
}

TEST_F(ProtobufTest, DiscoveryDocumentsAreTheSameInBothEncodings) {
  for (const char* target : {"/apis", "/apis/apps", "/api/v1", "/apis/apps/v1"}) {
    auto [expected, decoded] = GetInBoth(target);
    expected.erase("apiVersion");  // absent in some documents
    decoded.erase("apiVersion");
    EXPECT_EQ(json::diff(expected, decoded), json::array()) << target;
  }
}

TEST_F(ProtobufTest, AWatchSendsFrames) {
  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));
  const auto stream = ServerTransport().Open(
      {.target = Path("configmaps") + "?watch=1&fieldSelector=metadata.name=a",
       .accept = protobuf_type});
  std::string bytes;

  while (bytes.size() < 4 || bytes.size() < 4U + static_cast<unsigned char>(bytes[3]) +
                                                256U * static_cast<unsigned char>(bytes[2])) {
    const Stream::Chunk chunk = stream->Read(testing::kHangTimeout);
    ASSERT_EQ(chunk.state, Stream::State::kBytes);
    bytes += chunk.bytes;
  }

  EXPECT_EQ(bytes[0], 0);
  EXPECT_EQ(bytes.substr(4, 7), Bytes(1, "ADDED"));
  const std::string object = bytes.substr(bytes.find(prefix));
  EXPECT_EQ(DecodeText(object), WithoutNulls(created.body));
}

class ProtobufCustomResourceTest : public CrdPerTest {};

TEST_F(ProtobufCustomResourceTest, ACustomResourceIsAvailableOnlyAsJsonAndAsMetadata) {
  CreateCrd(AnyObjectSchema());
  Post(Widgets(), MakeWidget("a"));
  const std::string target = Widgets() + "/a";

  const JsonResponse refused = Call({.target = target, .accept = protobuf_type});
  EXPECT_EQ(refused.status, 406);
  EXPECT_EQ(DecodeText(refused.text)["message"],
            "only the following media types are accepted: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(Call({.target = target, .accept = protobuf_type + ",application/json"}).name(), "a");
  const JsonResponse metadata = Call({.target = target, .accept = protobuf_metadata_type});
  EXPECT_EQ(DecodeText(metadata.text)["metadata"], Get(target).at("/metadata"));
}

}  // namespace
}  // namespace kopp::conformance
