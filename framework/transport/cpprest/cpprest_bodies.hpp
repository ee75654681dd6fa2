#pragma once

#include "cpprest_progress.hpp"
#include "net/transport_failure.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <ios>
#include <memory>
#include <string>
#include <utility>  // needed by Boost.Asio 1.74, which does not include it

#include <cpprest/astreambuf.h>

// The request and response bodies of cpprest_transport.cpp as stream buffers of cpprestsdk.
namespace kopp::detail {

/// The base class of a buffer that can only be read or only be written. Implements all other
/// operations of the interface as failures.
class OneWayBuffer : public concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
 public:
  using Base = concurrency::streams::details::streambuf_state_manager<std::uint8_t>;
  using Base::Base;
  [[nodiscard]] bool can_seek() const override { return false; }
  [[nodiscard]] bool has_size() const override { return false; }
  [[nodiscard]] size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(size_t, std::ios_base::openmode) override {}
  [[nodiscard]] size_t in_avail() const override { return 0; }
  [[nodiscard]] pos_type getpos(std::ios_base::openmode) const override { return traits::eof(); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return traits::eof(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return traits::eof();
  }
  bool acquire(std::uint8_t*&, size_t&) override { return false; }
  void release(std::uint8_t*, size_t) override {}

 protected:
  static pplx::task<int_type> EofTask() {
    return pplx::task_from_result<int_type>(int_type{traits::eof()});
  }
  pplx::task<int_type> _putc(std::uint8_t) override { return EofTask(); }
  pplx::task<size_t> _putn(const std::uint8_t*, size_t) override {
    return pplx::task_from_result<size_t>(0);
  }
  pplx::task<int_type> _bumpc() override { return EofTask(); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return EofTask(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return EofTask(); }
  pplx::task<int_type> _ungetc() override { return EofTask(); }
  pplx::task<size_t> _getn(std::uint8_t*, size_t) override {
    return pplx::task_from_result<size_t>(0);
  }
  size_t _scopy(std::uint8_t*, size_t) override { return 0; }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(size_t) override { return nullptr; }
  void _commit(size_t) override {}
};

/// A request body that cannot be rewound, so that cpprestsdk never sends a request twice.
class RequestBody final : public OneWayBuffer {
 public:
  explicit RequestBody(std::string bytes)
      : OneWayBuffer(std::ios_base::in), bytes_(std::move(bytes)) {}

 protected:
  pplx::task<size_t> _getn(std::uint8_t* buffer, size_t count) override {
    const size_t size = std::min(count, bytes_.size() - position_);
    std::memcpy(buffer, bytes_.data() + position_, size);
    position_ += size;
    return pplx::task_from_result(size);
  }

 private:
  std::string bytes_;
  size_t position_ = 0;
};

/// Marks a call as finished on destruction. Every task and buffer of cpprestsdk that still works on
/// the call owns a shared pointer to the guard. After the last pointer is gone, the connection can
/// be reused or closed.
class CallGuard {
 public:
  explicit CallGuard(std::shared_ptr<CpprestProgress> progress) : progress_(std::move(progress)) {}
  ~CallGuard() { progress_->Finish(); }
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;

  [[nodiscard]] CpprestProgress& progress() const { return *progress_; }

 private:
  std::shared_ptr<CpprestProgress> progress_;
};

/// Collects a response body of up to `limit` bytes. cpprestsdk does not validate the size in a
/// chunk header: it may be huge or negative.
class ResponseBody final : public OneWayBuffer {
 public:
  ResponseBody(std::shared_ptr<CallGuard> guard, std::size_t limit)
      : OneWayBuffer(std::ios_base::out), guard_(std::move(guard)), limit_(limit) {}
  ~ResponseBody() override { guard_->progress().SetBody(std::move(bytes_)); }

 protected:
  pplx::task<size_t> _putn(const std::uint8_t* bytes, size_t count) override {
    if (count > PTRDIFF_MAX) return FailWith(failure::InvalidHttp("bad chunk"));
    if (count > limit_ - bytes_.size()) return FailWith(failure::BodyTooLarge());
    bytes_.append(reinterpret_cast<const char*>(bytes), count);
    return pplx::task_from_result(count);
  }

 private:
  static pplx::task<size_t> FailWith(const TransportError& error) {
    return pplx::task_from_exception<size_t>(std::make_exception_ptr(error));
  }

  std::shared_ptr<CallGuard> guard_;
  std::size_t limit_;
  std::string bytes_;
};

}  // namespace kopp::detail
