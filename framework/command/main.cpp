// kopp: starts projects of operators and generates files for them.

#include "command_line.hpp"

#include <iostream>

#include <unistd.h>

int main(int argc, char** argv) {
  return kopp::command::Run(argc, argv,
                            {.in = std::cin,
                             .out = std::cout,
                             .errors = std::cerr,
                             .interactive = isatty(STDIN_FILENO) != 0});
}
