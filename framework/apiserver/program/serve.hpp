#pragma once

#include "flags.hpp"
#include "signals.hpp"

namespace kopp::apiserver {

/// Runs a server with `flags` until a signal stops it or the program of a demo exits. SIGUSR1 takes
/// the server off the network, SIGUSR2 brings it back. Blocks. Returns the exit code of this
/// program. Throws a std::exception if the server or the demo cannot start.
[[nodiscard]] int Serve(Flags flags, const Signals& signals);

}  // namespace kopp::apiserver
