#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

int main() {
  kopp::testing::FakeClock clock;
  (void)kopp::testing::ScriptedTransport(clock).Requests();
}
