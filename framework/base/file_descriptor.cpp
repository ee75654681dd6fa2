#include "base/file_descriptor.hpp"

#include <unistd.h>

namespace kopp::detail {

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace kopp::detail
