// kopp-apiserver: runs a Kubernetes API server in memory.

#include "flags.hpp"
#include "serve.hpp"
#include "signals.hpp"

#include <exception>
#include <iostream>
#include <utility>
#include <variant>

#include <kopp/options.hpp>

int main(int argc, char** argv) {
  using namespace kopp::apiserver;
  const Signals signals;  // blocks the signals, so it must come before the first thread
  auto parsed = ParseFlags(argc, argv);
  if (const auto* early = std::get_if<kopp::EarlyExit>(&parsed)) {
    (early->code == 0 ? std::cout : std::cerr) << early->text << std::flush;
    return early->code;
  }
  try {
    return Serve(std::get<Flags>(std::move(parsed)), signals);
  } catch (const std::exception& error) {
    std::cerr << "kopp-apiserver: " << error.what() << '\n';
    return 1;
  }
}
