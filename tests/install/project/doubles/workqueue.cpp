#include <kopp/testing/fake_clock.hpp>

int main() { kopp::testing::FakeClock().Advance(kopp::Duration{}); }
