#pragma once

#include "flags.hpp"
#include "signals.hpp"

namespace kopp::apiserver {

/// A server as `flags` say, until a signal ends it or a demo's program ends: SIGUSR1 takes it off
/// the network, SIGUSR2 brings it back. Returns the exit code. Throws what derives from
/// std::exception where something that is wanted cannot be.
[[nodiscard]] int Serve(Flags flags, const Signals& signals);

}  // namespace kopp::apiserver
