#include "net/socket_bio.hpp"

#include "net/socket.hpp"

#include <cerrno>
#include <cstddef>
#include <new>
#include <utility>

#include <sys/socket.h>

namespace kopp::detail {
namespace {

int BioRead(BIO* bio, char* bytes, int size) {
  auto* io = static_cast<SocketIo*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (std::exchange(io->drained, false)) {
    BIO_set_retry_read(bio);
    io->error = EAGAIN;
    return -1;
  }
  const auto received = ::recv(io->socket, bytes, static_cast<std::size_t>(size), 0);
  io->drained = received > 0 && received < size;
  if (received <= 0) io->error = received == 0 ? 0 : errno;
  if (received < 0 && WouldBlock(errno)) BIO_set_retry_read(bio);
  return static_cast<int>(received);
}

int BioWrite(BIO* bio, const char* bytes, int size) {
  auto* io = static_cast<SocketIo*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  const auto sent = ::send(io->socket, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (sent < 0) io->error = errno;
  if (sent < 0 && WouldBlock(errno)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

long BioControl(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;  // nothing is buffered
}

const BIO_METHOD* SocketBioMethod() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* socket_method =
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "kopp socket");
    BIO_meth_set_read(socket_method, &BioRead);
    BIO_meth_set_write(socket_method, &BioWrite);
    BIO_meth_set_ctrl(socket_method, &BioControl);
    return socket_method;
  }();
  return method;
}

}  // namespace

BIO* NewSocketBio(SocketIo& io) {
  BIO* bio = BIO_new(SocketBioMethod());
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, &io);
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace kopp::detail
