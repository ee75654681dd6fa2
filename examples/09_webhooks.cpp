// Sets defaults and rejects invalid objects with webhooks, and tests them without certificates.
#include <map>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/framework.hpp>
#include <kopp/testing/environment.hpp>

using kopp::ConfigMap;
using testing::HasSubstr;

// Sets the size if a client has left it out. The API server may call it several times for one
// write.
static void SetDefaults(ConfigMap& map) { map.data.try_emplace("size", "1"); }

// Compares with the stored object; `old` is null for a create.
static kopp::FieldErrors Validate(const ConfigMap& map, const ConfigMap* old,
                                  kopp::AdmissionContext& context) {
  const std::string& size = map.data.at("size");
  if (old != nullptr && old->data.at("size") != size) context.Warn("the size was changed");
  if (size.size() == 1) return {};
  return {kopp::field::Invalid("data[size]", size, "must be a digit")};
}

static void ValidateDelete(const ConfigMap& map) {
  if (map.data.contains("keep")) throw kopp::AdmissionDenied("it has the key keep");
}

class WebhooksTest : public testing::Test {
 protected:
  WebhooksTest() {
    auto webhooks = env_.manager().AddWebhook<ConfigMap>();
    webhooks.Default(SetDefaults).Validate(Validate).ValidateDelete(ValidateDelete);
    env_.ServeWebhooks();  // the API server in memory calls them from now on
  }
  ConfigMap Create(std::map<std::string, std::string> data) {
    const kopp::ObjectMeta metadata{.name = "settings", .ns = "default"};
    return env_.client().Create(ConfigMap{.metadata = metadata, .data = std::move(data)});
  }

  kopp::testing::Environment env_;
};

TEST_F(WebhooksTest, ASizeThatIsLeftOutIsSet) { EXPECT_EQ(Create({}).data.at("size"), "1"); }

TEST_F(WebhooksTest, AnInvalidSizeIsRejected) {
  const auto create = [&] { return Create({{"size", "large"}}); };
  EXPECT_THAT(create, testing::ThrowsMessage<kopp::ApiError>(HasSubstr("must be a digit")));
}

TEST_F(WebhooksTest, AnObjectToKeepCannotBeDeleted) {
  Create({{"keep", "yes"}});
  EXPECT_THROW(env_.client().Delete<ConfigMap>({"default", "settings"}), kopp::ApiError);
}
