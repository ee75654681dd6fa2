#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/fake_source.hpp>

int main() {
  kopp::testing::FakeClock clock;
  kopp::testing::FakeSource<kopp::Pod>(clock).AwaitIdleWatch();
}
