// A user's test. It checks that the installed test headers compile and link.
#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/fake_source.hpp>
#include <kopp/testing/scripted_transport.hpp>

int main() {
  kopp::testing::FakeClock clock;
  kopp::testing::ScriptedTransport transport{clock};
  kopp::testing::FakeSource<kopp::Pod> pods{clock};
  const kopp::Client client{transport};
  return client.Get<kopp::Pod>({"ns", "web"}) ? 1 : 0;
}
