// Warnings of webhooks.
#include "admission/webhook_test_server.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

class WebhookWarningsTest : public WebhookCallTest {
 protected:
  /// Returns the warnings of a create for which a webhook has these warnings.
  std::vector<std::string> WarningsOf(const std::vector<std::string>& warnings) {
    Install(Type::kValidating, {.respond = [warnings](const json&) {
              json response = Allowed();
              response["warnings"] = warnings;
              return response;
            }});
    return CreateMap("warned").warnings;
  }
};

// A43
TEST_F(WebhookWarningsTest, WarningsReachTheClientOnceAlsoWithADenial) {
  Install(Type::kMutating, {.respond = [](const json&) {
            json response = Allowed();
            response["warnings"] = {"old", "old"};
            return response;
          }});
  Install(Type::kValidating, {.respond = [](const json&) {
            json response = Denied({{"code", 403}});
            response["warnings"] = {"old", "new"};
            return response;
          }});

  EXPECT_THAT(CreateMap("warned").warnings, ElementsAre("old", "new"));
}

// A43
TEST_F(WebhookWarningsTest, WarningsOfUpTo4096CharactersAreComplete) {
  const std::vector<std::string> warnings{std::string(4000, 'a'), std::string(96, 'b')};

  EXPECT_EQ(WarningsOf(warnings), warnings);
}

// A43
TEST_F(WebhookWarningsTest, EachWarningIsCutTo256CharactersIfAllHaveMoreThan4096) {
  std::string a;
  std::string b;
  for (int i = 0; i < 256; ++i) {
    a += "ä";
    b += "ö";
  }

  EXPECT_THAT(WarningsOf({a + std::string(3000, 'a'), b + std::string(900, 'b'), "c"}),
              ElementsAre(a, b, "c"));
}

}  // namespace
}  // namespace kopp::conformance
