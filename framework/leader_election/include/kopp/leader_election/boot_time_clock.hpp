#pragma once

#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// Returns a clock like Clock::Real() whose Now() also counts the time during which the machine was
/// suspended (CLOCK_BOOTTIME). A lease expires at that time, whether this machine sleeps or not.
/// Never destroyed.
///
/// Compare its times only with each other: they are later than those of Clock::Real() by the time
/// of all suspends since the boot. A waiter notices the end of a suspend at most one second late.
[[nodiscard]] Clock& BootTimeClock();

/// Returns BootTimeClock() for Clock::Real(), and any other clock itself, so that a test controls
/// the time.
[[nodiscard]] Clock& CountingSuspends(Clock& clock);

}  // namespace kopp
