#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/in_memory_tracer.hpp>

int main() {
  kopp::testing::FakeClock clock;
  (void)kopp::testing::InMemoryTracer(clock).Await(1);
}
