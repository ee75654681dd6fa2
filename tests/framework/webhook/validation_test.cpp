// Tests the functions of WebhookBuilder::Validate and ValidateDelete.
#include "webhook_fixture.hpp"

#include <stdexcept>

#include <gmock/gmock.h>

#include <kopp/dynamic_client.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

using ValidationTest = WebhookTest;

// O6
TEST_F(ValidationTest, FieldErrorsAreA422InTheWordsOfTheApiServer) {
  AddWebhook().Validate([](const Widget& widget) -> FieldErrors {
    return {field::Invalid("spec.replicas", *widget.spec.replicas, "must be at most 100"),
            field::Required("spec.owner")};
  });

  const json response = SendReview(kValidate, NewReview(NewWidget({{"replicas", 300}})));

  EXPECT_EQ(response.at("allowed"), false);
  EXPECT_EQ(response.at("uid"), "u-1");
  EXPECT_EQ(response.at("status"), json::parse(R"({"status":"Failure","reason":"Invalid","code":422,
      "message":"Widget.shop.example.com \"w\" is invalid: [spec.replicas: Invalid value: 300: must be at most 100, spec.owner: Required value]",
      "details":{"name":"w","group":"shop.example.com","kind":"Widget","causes":[
        {"reason":"FieldValueInvalid","message":"Invalid value: 300: must be at most 100","field":"spec.replicas"},
        {"reason":"FieldValueRequired","message":"Required value","field":"spec.owner"}]}})"));
}

TEST_F(ValidationTest, AValidObjectIsAllowed) {
  AddWebhook().Validate([](const Widget& widget, AdmissionContext& context) {
    EXPECT_EQ(widget.spec.owner, "alice");
    EXPECT_EQ(context.request.userInfo.username, "alice");
  });

  EXPECT_EQ(SendReview(kValidate, NewReview(NewWidget({{"owner", "alice"}}))),
            json({{"uid", "u-1"}, {"allowed", true}}));
}

TEST_F(ValidationTest, TheStoredObjectIsPassedForAnUpdateOnly) {
  AddWebhook().Validate([](const Widget& widget, const Widget* old, AdmissionContext&) {
    FieldErrors errors;
    if (old != nullptr && old->spec.owner != widget.spec.owner) {
      errors.push_back(field::Forbidden("spec.owner", "is immutable"));
    }
    return errors;
  });
  const json object = NewWidget({{"owner", "bob"}});

  EXPECT_EQ(SendReview(kValidate, NewReview(object)).at("allowed"), true);
  EXPECT_EQ(SendReview(kValidate, NewReview(object, object)).at("allowed"), true);
  const json changed = SendReview(kValidate, NewReview(object, NewWidget({{"owner", "alice"}})));
  EXPECT_EQ(changed.at("/status/message"_json_pointer),
            "Widget.shop.example.com \"w\" is invalid: spec.owner: Forbidden: is immutable");
}

// O5
TEST_F(ValidationTest, ValidateDeleteGetsTheStoredObjectOfADelete) {
  AddWebhook()
      .Validate([](const Widget&) { FAIL() << "called for a delete"; })
      .ValidateDelete([](const Widget& widget) {
        if (widget.spec.owner == "alice") throw AdmissionDenied("alice keeps it");
      });

  const json kept = SendReview(kValidate, NewReview(nullptr, NewWidget({{"owner", "alice"}})));
  const json gone = SendReview(kValidate, NewReview(nullptr, NewWidget({{"owner", "bob"}})));

  EXPECT_EQ(kept.at("status"), json({{"status", "Failure"},
                                     {"reason", "Forbidden"},
                                     {"code", 403},
                                     {"message", "alice keeps it"}}));
  EXPECT_EQ(gone.at("allowed"), true);
}

// O5
TEST_F(ValidationTest, ADeleteWithoutValidateDeleteAndAConnectAreAllowed) {
  AddWebhook().Validate([](const Widget&) { FAIL() << "called"; });
  json connect = NewReview(NewWidget(json::object()));
  connect["request"]["operation"] = "CONNECT";

  EXPECT_EQ(SendReview(kValidate, NewReview(nullptr, NewWidget(json::object()))).at("allowed"),
            true);
  EXPECT_EQ(SendReview(kValidate, connect).at("allowed"), true);
}

// O5
TEST_F(ValidationTest, ADeleteWithoutTheStoredObjectIsDeniedWith400) {
  AddWebhook().ValidateDelete([](const Widget&) {});

  const json response = SendReview(kValidate, NewReview(nullptr));

  EXPECT_EQ(response.at("/status/code"_json_pointer), 400);
  EXPECT_EQ(response.at("/status/message"_json_pointer),
            "there is no content to decode: the request has no oldObject");
}

// O6
TEST_F(ValidationTest, WarningsAndAuditAnnotationsAreSentWithADenialToo) {
  AddWebhook().Validate([](const Widget&, AdmissionContext& context) {
    context.Warn("spec.owner is deprecated");
    context.Audit("reason", "too old");
    throw AdmissionDenied("no", 409);
  });

  const json response = SendReview(kValidate, NewReview(NewWidget(json::object())));

  EXPECT_EQ(response.at("warnings"), json::array({"spec.owner is deprecated"}));
  EXPECT_EQ(response.at("auditAnnotations"), json({{"reason", "too old"}}));
  EXPECT_EQ(response.at("/status/code"_json_pointer), 409);
}

// O6
TEST_F(ValidationTest, AnErrorOfTheClientKeepsItsCodeReasonAndCauses) {
  transport_.Respond("GET", "/api/v1/namespaces/shop/configmaps/settings", 403,
                     R"({"kind":"Status","message":"no access","reason":"Forbidden","code":403,
                         "details":{"kind":"configmaps","causes":[{"reason":"r","message":"m"}]}})");
  AddWebhook().Validate([](const Widget&, AdmissionContext& context) {
    constexpr Kind kConfigMap{"v1", "ConfigMap", "configmaps"};
    static_cast<void>(context.client.Dynamic(kConfigMap).Get({"shop", "settings"}));
  });

  const json status = SendReview(kValidate, NewReview(NewWidget(json::object()))).at("status");

  EXPECT_EQ(status.at("code"), 403);
  EXPECT_EQ(status.at("message"), "no access");
  EXPECT_EQ(status.at("/details/causes/0/message"_json_pointer), "m");
  EXPECT_EQ(log_, "");
}

TEST_F(ValidationTest, ASecondFunctionForAnOperationIsALogicError) {
  WebhookBuilder<Widget> builder = AddWebhook();
  builder.Validate([](const Widget&) {}).ValidateDelete([](const Widget&) {});

  EXPECT_THROW(builder.Validate([](const Widget&) {}), std::logic_error);
  EXPECT_THROW(builder.ValidateDelete([](const Widget&) {}), std::logic_error);
  EXPECT_THROW(builder.Handle(WebhookType::kValidating, {}), std::logic_error);
}

// O6
TEST_F(ValidationTest, AnotherExceptionIsA500ThatIsLoggedAndCounted) {
  AddWebhook().Validate([](const Widget& widget) {
    if (widget.spec.owner.empty()) throw 7;  // not a std::exception
    throw std::out_of_range("map::at");
  });

  const json status = SendReview(kValidate, NewReview(NewWidget({{"owner", "x"}}))).at("status");
  const json unknown = SendReview(kValidate, NewReview(NewWidget(json::object()))).at("status");

  EXPECT_EQ(status.at("code"), 500);
  EXPECT_EQ(status.at("reason"), "InternalError");
  EXPECT_EQ(status.at("message"), "map::at");
  EXPECT_EQ(unknown.at("message"), "the webhook threw an object that is not a std::exception");
  EXPECT_THAT(log_, HasSubstr("std::out_of_range: map::at"));
  EXPECT_THAT(log_, HasSubstr("requestID=\"u-1\" namespace=\"shop\" name=\"w\""));
  EXPECT_THAT(metrics_.Text(), HasSubstr("\ncontroller_runtime_webhook_panics_total 2\n"));
}

}  // namespace
}  // namespace kopp
