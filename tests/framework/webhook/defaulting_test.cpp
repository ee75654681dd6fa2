// Tests the functions of WebhookBuilder::Default.
#include "base/base64.hpp"
#include "webhook_fixture.hpp"

#include <gmock/gmock.h>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class DefaultingTest : public WebhookTest {
 protected:
  /// Returns the object of a create after the patch of the answer.
  json Created(const json& object) {
    const json response = SendReview(kMutate, NewReview(object));
    EXPECT_EQ(response.at("allowed"), true) << response;
    if (!response.contains("patch")) return object;
    EXPECT_EQ(response.at("patchType"), "JSONPatch");
    const auto patch = detail::DecodeBase64(response.at("patch").get<std::string>());
    return object.patch(json::parse(patch.value()));
  }
  /// Returns a review of `object` in which the string "DEEP" is a list that is nested 100,000
  /// times.
  static std::string NestedReview(const json& object) {
    std::string review = NewReview(object).dump();
    return review.replace(review.find("\"DEEP\""), 6,
                          std::string(100'000, '[') + std::string(100'000, ']'));
  }
};

TEST_F(DefaultingTest, FieldsThatTheFunctionSetsAreInThePatch) {
  AddWebhook().Default([](Widget& widget) {
    if (!widget.spec.replicas) widget.spec.replicas = 1;
    widget.metadata.labels["tier"] = "web";
  });

  const json changed = Created(NewWidget({{"owner", "alice"}}));

  EXPECT_EQ(changed.at("spec"), json({{"owner", "alice"}, {"replicas", 1}}));
  EXPECT_EQ(changed.at("/metadata/labels"_json_pointer), json({{"tier", "web"}}));
}

TEST_F(DefaultingTest, FieldsThatTheViewDoesNotHaveStay) {
  AddWebhook().Default([](Widget& widget) {
    widget.spec.replicas = 3;
    std::swap(widget.spec.parts.at(0), widget.spec.parts.at(1));
    widget.spec.parts.at(0).image = "b:2";
  });

  const json changed = Created(NewWidget({{"color", "red"},
                                          {"parts",
                                           {{{"name", "a"}, {"image", "a:1"}, {"size", 1}},
                                            {{"name", "b"}, {"image", "b:1"}, {"size", 2}}}}}));

  EXPECT_EQ(changed.at("spec"), json({{"color", "red"},
                                      {"replicas", 3},
                                      {"parts",
                                       {{{"name", "b"}, {"image", "b:2"}, {"size", 2}},
                                        {{"name", "a"}, {"image", "a:1"}, {"size", 1}}}}}));
}

// O4
TEST_F(DefaultingTest, AFunctionThatChangesNothingCausesNoPatch) {
  AddWebhook().Default([](Widget&) {});

  const json response = SendReview(kMutate, NewReview(NewWidget({{"unknown", 1.50}})));

  EXPECT_EQ(response, json({{"uid", "u-1"}, {"allowed", true}}));
}

// O4
TEST_F(DefaultingTest, AnUpdateIsDefaultedAndADeleteIsAllowedWithoutACall) {
  int calls = 0;
  AddWebhook().Default([&calls](Widget& widget, AdmissionContext& context) {
    ++calls;
    EXPECT_EQ(context.request.operation, AdmissionOperation::kUpdate);
    widget.spec.replicas = 2;
  });

  const json updated =
      SendReview(kMutate, NewReview(NewWidget(json::object()), NewWidget({{"owner", "x"}})));
  const json deleted = SendReview(kMutate, NewReview(nullptr, NewWidget(json::object())));

  EXPECT_TRUE(updated.contains("patch"));
  EXPECT_EQ(deleted, json({{"uid", "u-1"}, {"allowed", true}}));
  EXPECT_EQ(calls, 1);
}

TEST_F(DefaultingTest, AnObjectThatIsNotOfTheKindIsDeniedWith400) {
  AddWebhook().Default([](Widget& widget) { widget.spec.replicas = 1; });

  const json wrong_type = SendReview(kMutate, NewReview(NewWidget({{"replicas", "many"}})));
  json review = NewReview(NewWidget(json::object()));
  review["request"].erase("object");
  const json without_object = SendReview(kMutate, review);

  EXPECT_EQ(wrong_type.at("allowed"), false);
  EXPECT_EQ(wrong_type.at("/status/code"_json_pointer), 400);
  EXPECT_THAT(wrong_type.at("/status/message"_json_pointer).get<std::string>(),
              HasSubstr("spec.replicas: expected"));
  EXPECT_EQ(without_object.at("/status/message"_json_pointer),
            "there is no content to decode: the request has no object");
}

TEST_F(DefaultingTest, ADeeplyNestedFieldThatTheFunctionDoesNotChangeStays) {
  AddWebhook().Default([](Widget& widget) { widget.spec.replicas = 1; });

  const HttpResponse response = Send(kMutate, NestedReview(NewWidget({{"color", "DEEP"}})));

  ASSERT_EQ(response.status, 200) << response.body.substr(0, 500);
  const json answer = json::parse(response.body).at("response");
  EXPECT_EQ(detail::DecodeBase64(answer.at("patch").get<std::string>()),
            R"([{"op":"add","path":"/spec/replicas","value":1}])");
}

TEST_F(DefaultingTest, AChangeOfAListThatIsNestedTooDeeplyIsDeniedWith400) {
  AddWebhook().Default([](Widget& widget) { widget.spec.parts.at(0).image = "b:2"; });

  const HttpResponse response =
      Send(kMutate, NestedReview(NewWidget({{"parts", {{{"name", "a"}, {"size", "DEEP"}}}}})));

  ASSERT_EQ(response.status, 200) << response.body.substr(0, 500);
  const json status = json::parse(response.body).at("/response/status"_json_pointer);
  EXPECT_EQ(status.at("code"), 400);
  EXPECT_THAT(status.at("message").get<std::string>(), HasSubstr("cannot decode object: "));
}

TEST_F(DefaultingTest, AChangeThatWouldLoseFieldsTheViewDoesNotHaveIsA500) {
  AddWebhook().Default([](Widget& widget) {
    widget.spec.parts.at(0).image = "b:2";
    widget.spec.parts.emplace_back().image = "c:1";
  });

  const json response =
      SendReview(kMutate, NewReview(NewWidget({{"parts", {{{"image", "b:1"}, {"size", 1}}}}})));

  EXPECT_EQ(response.at("/status/code"_json_pointer), 500);
  EXPECT_THAT(response.at("/status/message"_json_pointer).get<std::string>(),
              HasSubstr("cannot tell whether an item of a list was changed or replaced"));
}

TEST_F(DefaultingTest, HandleAnswersWithTheDifferenceOfTwoTexts) {
  AddWebhook().Handle(WebhookType::kMutating,
                      [](const AdmissionRequest& request, AdmissionContext&) {
                        json object = json::parse(request.object.text);
                        object["spec"]["color"] = "blue";
                        return AdmissionResponse::Changed(request.object.text, object.dump());
                      });

  EXPECT_EQ(Created(NewWidget({{"color", "red"}})).at("spec"), json({{"color", "blue"}}));
}

}  // namespace
}  // namespace kopp
