#pragma once

#include "failures.hpp"
#include "rest_progress.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <ios>
#include <memory>
#include <string>
#include <utility>  // Boost.Asio 1.74 forgets it

#include <cpprest/astreambuf.h>

// The bodies of rest_transport.cpp's calls, as cpprestsdk's streams have them.
namespace kopp::detail {

/// What a buffer that goes one way only has to say to all the rest.
class OneWay : public concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
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
  static pplx::task<int_type> Nothing() {
    return pplx::task_from_result<int_type>(int_type{traits::eof()});
  }
  pplx::task<int_type> _putc(std::uint8_t) override { return Nothing(); }
  pplx::task<size_t> _putn(const std::uint8_t*, size_t) override {
    return pplx::task_from_result<size_t>(0);
  }
  pplx::task<int_type> _bumpc() override { return Nothing(); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return Nothing(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return Nothing(); }
  pplx::task<int_type> _ungetc() override { return Nothing(); }
  pplx::task<size_t> _getn(std::uint8_t*, size_t) override {
    return pplx::task_from_result<size_t>(0);
  }
  size_t _scopy(std::uint8_t*, size_t) override { return 0; }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(size_t) override { return nullptr; }
  void _commit(size_t) override {}
};

/// A body that cannot be rewound: then cpprestsdk does not send a request a second time.
class RequestBody final : public OneWay {
 public:
  explicit RequestBody(std::string bytes) : OneWay(std::ios_base::in), bytes_(std::move(bytes)) {}

 protected:
  pplx::task<size_t> _getn(std::uint8_t* into, size_t count) override {
    const size_t some = std::min(count, bytes_.size() - taken_);
    std::memcpy(into, bytes_.data() + taken_, some);
    taken_ += some;
    return pplx::task_from_result(some);
  }

 private:
  std::string bytes_;
  size_t taken_ = 0;
};

/// Held by every part of cpprestsdk that still works on a call. When the last lets go, whatever way
/// the call went, its connection is put back or closed.
class Claim {
 public:
  explicit Claim(std::shared_ptr<RestProgress> progress) : progress_(std::move(progress)) {}
  ~Claim() { progress_->End(); }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  [[nodiscard]] RestProgress& progress() const { return *progress_; }

 private:
  std::shared_ptr<RestProgress> progress_;
};

/// Takes an answer's body, up to `limit`. cpprestsdk hands on as many bytes as a chunk's header
/// says, be it -1.
class ResponseBody final : public OneWay {
 public:
  ResponseBody(std::shared_ptr<Claim> claim, std::size_t limit)
      : OneWay(std::ios_base::out), claim_(std::move(claim)), limit_(limit) {}
  ~ResponseBody() override { claim_->progress().TakeBody(std::move(bytes_)); }

 protected:
  pplx::task<size_t> _putn(const std::uint8_t* from, size_t count) override {
    if (count > PTRDIFF_MAX) return Refuse(failure::NotHttp("bad chunk"));
    if (count > limit_ - bytes_.size()) return Refuse(failure::TooLarge());
    bytes_.append(reinterpret_cast<const char*>(from), count);
    return pplx::task_from_result(count);
  }

 private:
  static pplx::task<size_t> Refuse(const TransportError& error) {
    return pplx::task_from_exception<size_t>(std::make_exception_ptr(error));
  }

  std::shared_ptr<Claim> claim_;
  std::size_t limit_;
  std::string bytes_;
};

}  // namespace kopp::detail
