// Mutating webhooks: order, patches, reinvocation.
#include "admission/webhook_test_server.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Returns a webhook that appends `letter` to data.order.
WebhookCallTest::Respond Append(const char* letter) {
  return [letter](const json& request) {
    const json& data = request.at("object").value("data", json::object());
    const std::string order = data.value("order", "") + letter;
    if (data.empty())
      return Allowed({{{"op", "add"}, {"path", "/data"}, {"value", {{"order", order}}}}});
    return Allowed({{{"op", "add"}, {"path", "/data/order"}, {"value", order}}});
  };
}

using MutatingWebhooksTest = WebhookCallTest;

// A1, A39
TEST_F(MutatingWebhooksTest, WebhooksAreCalledInTheOrderOfConfigurationsAndTheirLists) {
  Install(Type::kMutating, {{.respond = Append("a")}, {.respond = Append("b")}});
  Install(Type::kMutating, {.respond = Append("c")});

  const JsonResponse created = CreateMap("ordered");

  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.at("/data"), json({{"order", "abc"}}));
  EXPECT_EQ(Get(Path("configmaps") + "/ordered").at("/data"), json({{"order", "abc"}}));
}

// A1
TEST_F(MutatingWebhooksTest, ConfigurationsAreInTheOrderOfTheirNamesNotOfTheirCreation) {
  Install(Type::kMutating, {.respond = Append("b")}, "b");
  Install(Type::kMutating, {.respond = Append("a")}, "a");

  EXPECT_EQ(CreateMap("ordered").at("/data/order"), "ab");
}

// A3
TEST_F(MutatingWebhooksTest, AnObjectThatAPatchMakesInvalidIsRejectedBeforeValidatingWebhooks) {
  Install(Type::kMutating, {.respond = [](const json&) {
            return Allowed({{{"op", "add"}, {"path", "/data"}, {"value", {{"bad key", "x"}}}}});
          }});
  Install(Type::kValidating, Webhook{});

  const JsonResponse created = CreateMap("invalid");

  EXPECT_EQ(created.status, 422) << created.text;
  EXPECT_EQ(Requests().size(), 1);
}

// A21
TEST_F(MutatingWebhooksTest, AnEmptyPatchChangesNothing) {
  Install(Type::kMutating, {.respond = [](const json&) { return Allowed(json::array()); }});

  EXPECT_EQ(CreateMap("same", {{"a", "b"}}).at("/data"), json({{"a", "b"}}));
}

// A40
TEST_F(MutatingWebhooksTest, UnknownFieldsOfAPatchAreDropped) {
  Install(Type::kMutating, {.respond = [](const json&) {
            return Allowed({{{"op", "add"}, {"path", "/unknown"}, {"value", 1}}});
          }});

  const JsonResponse created = CreateMap("dropped");

  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.at("/unknown"), json());
  EXPECT_THAT(created.warnings, ElementsAre());
}

// A30
TEST_F(MutatingWebhooksTest, AnUndecodablePatchIsIgnoredIfThePolicySaysSo) {
  Install(Type::kMutating, {.respond = [](const json&) { return Allowed("text"); },
                            .fields = {{"failurePolicy", "Ignore"}}});

  EXPECT_EQ(CreateMap("ignored").status, 201);
  EXPECT_EQ(Requests().size(), 1);
}

// A31
TEST_F(MutatingWebhooksTest, APatchThatDoesNotApplyIsAnInternalErrorWhateverTheFailurePolicy) {
  Install(Type::kMutating, {.respond =
                                [](const json&) {
                                  return Allowed({{{"op", "remove"}, {"path", "/data/missing"}}});
                                },
                            .fields = {{"failurePolicy", "Ignore"}}});

  const JsonResponse created = CreateMap("patched", {{"a", "b"}});

  EXPECT_EQ(created.status, 500) << created.text;
  EXPECT_EQ(created.reason(), "InternalError");
}

// A31
TEST_F(MutatingWebhooksTest, APatchWhoseResultIsNotOfTheKindIsAnInternalError) {
  Install(Type::kMutating,
          {.respond =
               [](const json&) {
                 return Allowed({{{"op", "add"}, {"path", "/data"}, {"value", "text"}}});
               },
           .fields = {{"failurePolicy", "Ignore"}}});

  const JsonResponse created = CreateMap("patched");

  EXPECT_EQ(created.status, 500) << created.text;
  EXPECT_EQ(created.reason(), "InternalError");
}

/// Returns a webhook that sets a field of the metadata.
WebhookCallTest::Respond SetMetadata(const char* field, const char* value) {
  return [path = std::string("/metadata/") + field, value](const json&) {
    return Allowed({{{"op", "replace"}, {"path", path}, {"value", value}}});
  };
}

// A3
TEST_F(MutatingWebhooksTest, ANewObjectHasTheNameThatAPatchGivesIt) {
  Install(Type::kMutating, {.respond = SetMetadata("name", "patched")});
  Install(Type::kValidating, Webhook{});

  const JsonResponse created = CreateMap("sent");

  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.str("/metadata/name"), "patched");
  ASSERT_EQ(Requests().size(), 2);
  EXPECT_EQ(Requests().back().at("name"), "sent");
  EXPECT_EQ(Requests().back().at(json::json_pointer("/object/metadata/name")), "patched");
  EXPECT_EQ(Get(Path("configmaps") + "/patched").status, 200);
  EXPECT_EQ(Get(Path("configmaps") + "/sent").status, 404);
}

// A3
TEST_F(MutatingWebhooksTest, ANewObjectStaysInTheNamespaceOfTheRequest) {
  Install(Type::kMutating, {.respond = SetMetadata("namespace", "default")});

  const JsonResponse created = CreateMap("moved");

  EXPECT_EQ(created.status, 400) << created.text;
  EXPECT_EQ(
      created.message(),
      "the namespace of the provided object does not match the namespace sent on the request");
}

// A3
TEST_F(MutatingWebhooksTest, APatchCannotRenameAStoredObject) {
  CreateMap("stored");
  Install(Type::kMutating, {.respond = SetMetadata("name", "patched")});

  const JsonResponse patched = MergePatch(Path("configmaps") + "/stored", {{"data", {{"a", "b"}}}});

  EXPECT_EQ(patched.status, 422) << patched.text;
  EXPECT_EQ(patched.message(),
            "ConfigMap \"patched\" is invalid: metadata.name: Invalid value: \"patched\": field is "
            "immutable");
}

// A3
TEST_F(MutatingWebhooksTest, APatchCannotMoveAStoredObject) {
  CreateMap("stored");
  Install(Type::kMutating, {.respond = SetMetadata("namespace", "default")});

  const JsonResponse patched = MergePatch(Path("configmaps") + "/stored", {{"data", {{"a", "b"}}}});

  EXPECT_EQ(patched.status, 400) << patched.text;
  EXPECT_EQ(
      patched.message(),
      "the namespace of the provided object does not match the namespace sent on the request");
}

// A10
TEST_F(MutatingWebhooksTest, APatchOfADeletionIsAnInternalError) {
  Install(Type::kMutating,
          {.respond =
               [](const json&) {
                 return Allowed({{{"op", "add"}, {"path", "/data"}, {"value", {}}}});
               },
           .fields = {{"rules", {Rule({"DELETE"}, "configmaps")}}}});
  CreateMap("deleted");

  const JsonResponse deleted = Delete(Path("configmaps") + "/deleted");

  EXPECT_EQ(deleted.status, 500) << deleted.text;
  EXPECT_EQ(deleted.message(),
            "Internal error occurred: admission webhook \"w0.example.com\" attempted to modify the "
            "object, which is not "
            "supported for this operation");
}

// A38
TEST_F(MutatingWebhooksTest, AWebhookIsCalledAgainIfALaterOneHasChangedTheObject) {
  Install(Type::kMutating,
          {{.respond = Append("a"), .fields = {{"reinvocationPolicy", "IfNeeded"}}},
           {.respond = Append("b"), .fields = {{"reinvocationPolicy", "IfNeeded"}}},
           {.respond = Append("c")}});

  EXPECT_EQ(CreateMap("again").at("/data/order"), "abcab");
}

// A38
TEST_F(MutatingWebhooksTest, AWebhookIsNotCalledAgainIfNoLaterOneHasChangedTheObject) {
  Install(Type::kMutating,
          {{.respond = Append("a"), .fields = {{"reinvocationPolicy", "IfNeeded"}}}, Webhook{}});

  EXPECT_EQ(CreateMap("once").at("/data/order"), "a");
}

// A38
TEST_F(MutatingWebhooksTest, AWebhookThatWasNotCalledAtFirstIsNotCalledAgain) {
  const json label{{{"op", "add"}, {"path", "/metadata/labels"}, {"value", {{"tier", "web"}}}}};
  json labelled{{"reinvocationPolicy", "IfNeeded"}};
  labelled["objectSelector"]["matchLabels"] = {{"tier", "web"}};
  Install(Type::kMutating, {{.respond = Append("a"), .fields = labelled},
                            {.respond = [label](const json&) { return Allowed(label); }}});

  const JsonResponse created = CreateMap("labelled");

  EXPECT_EQ(created.at("/metadata/labels/tier"), "web") << created.text;
  EXPECT_EQ(created.at("/data"), json());
}

// A18
TEST_F(MutatingWebhooksTest, LaterWebhooksSelectByTheLabelsThatEarlierOnesHaveSet) {
  Install(
      Type::kMutating,
      {{.respond =
            [](const json&) {
              return Allowed(
                  {{{"op", "add"}, {"path", "/metadata/labels"}, {"value", {{"tier", "web"}}}}});
            }},
       {.respond = Append("b"),
        .fields = {{"objectSelector", {{"matchLabels", {{"tier", "web"}}}}}}}});

  EXPECT_EQ(CreateMap("labelled").at("/data/order"), "b");
}

TEST_F(MutatingWebhooksTest, TheFieldsThatAWebhookSetsHaveNoOwner) {
  Install(Type::kMutating, {.respond = Append("a")});

  const JsonResponse created = CreateMap("owned", {{"mine", "x"}});

  ASSERT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.at("/metadata/managedFields/0/fieldsV1"),
            json::parse(R"({"f:data":{".":{},"f:mine":{}}})"));
  const JsonResponse applied = Apply(Path("configmaps") + "/applied",
                                     {{"apiVersion", "v1"},
                                      {"kind", "ConfigMap"},
                                      {"metadata", {{"name", "applied"}}},
                                      {"data", {{"mine", "x"}}}},
                                     "applier");
  EXPECT_EQ(applied.at("/data"), json({{"mine", "x"}, {"order", "a"}})) << applied.text;
  EXPECT_EQ(applied.at("/metadata/managedFields/0/fieldsV1"),
            json::parse(R"({"f:data":{"f:mine":{}}})"));
}

// A40
TEST_F(MutatingWebhooksTest, ABuiltInObjectHasItsDefaultsBeforeAndAfterAPatch) {
  const Respond respond = [](const json& request) {
    json patch = json::array();
    if (request.at("/object/spec/revisionHistoryLimit"_json_pointer) == 10) {
      patch.push_back({{"op", "replace"}, {"path", "/spec/revisionHistoryLimit"}, {"value", 3}});
      patch.push_back({{"op", "add"},
                       {"path", "/spec/template/spec/containers/-"},
                       {"value", {{"name", "b"}, {"image", "b"}}}});
    }
    return Allowed(patch);
  };
  const json fields{{"rules", {Rule({"CREATE"}, "deployments", "apps")}}};
  Install(Type::kMutating, {{.respond = respond, .fields = fields}, {.fields = fields}});

  const JsonResponse created = Post(Path("apps/v1", "deployments"), MakeDeployment("web"));

  ASSERT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.at("/spec/revisionHistoryLimit"), 3);
  ASSERT_EQ(Requests().size(), 2);
  EXPECT_EQ(Requests()[1].at(
                "/object/spec/template/spec/containers/1/terminationMessagePath"_json_pointer),
            "/dev/termination-log");
  EXPECT_EQ(created.at("/metadata/managedFields/0/fieldsV1/f:spec/f:revisionHistoryLimit"),
            json::object());
}

TEST_F(MutatingWebhooksTest, AnUpdateOfAnotherKindKeepsTheOwnersOfDefaults) {
  Post(Path("apps/v1", "deployments"), MakeDeployment("web"));
  Install(Type::kMutating, Webhook{});
  json changed = MakeDeployment("web");
  changed["spec"]["replicas"] = 2;

  const JsonResponse updated = Put(Path("apps/v1", "deployments") + "/web", changed);

  ASSERT_EQ(updated.status, 200) << updated.text;
  EXPECT_EQ(updated.at("/metadata/managedFields/0/fieldsV1/f:spec/f:revisionHistoryLimit"),
            json::object());
}

// A42
TEST_F(MutatingWebhooksTest, DuplicateOwnerReferencesOfAPatchAreRemovedWithAWarning) {
  Install(
      Type::kMutating, {.respond = [](const json&) {
        const json owner{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "o"}, {"uid", "u"}};
        return Allowed(
            {{{"op", "add"}, {"path", "/metadata/ownerReferences"}, {"value", {owner, owner}}}});
      }});

  const JsonResponse created = Post(Path("configmaps") + "?dryRun=All", MakeConfigMap("twice"));

  ASSERT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.at("/metadata/ownerReferences").size(), 1);
  EXPECT_THAT(created.warnings, ElementsAre(HasSubstr("duplicate")));
}

}  // namespace
}  // namespace kopp::conformance
