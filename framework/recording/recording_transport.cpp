#include "recording/recorder.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp {
namespace {

using nlohmann::json;

json RequestEntry(const ApiRequest& request, const Redactor& redactor) {
  json entry{{"method", request.method}, {"target", request.target}};
  if (!request.traceparent.empty()) entry["traceparent"] = request.traceparent;
  if (request.accept != "application/json") entry["accept"] = request.accept;
  if (request.body.empty()) return entry;
  entry["contentType"] = request.content_type;
  entry["body"] = redactor.Redact(request.target, request.body);
  return entry;
}

json ResponseEntry(const ApiResponse& response, const ApiRequest& request, Redactor& redactor) {
  json entry{{"status", response.status},
             {"body", redactor.RedactResponse(request.target, request.body, response.body)}};
  if (response.retry_after) {
    using Seconds = std::chrono::seconds;
    entry["retryAfter"] = std::chrono::duration_cast<Seconds>(*response.retry_after).count();
  }
  if (!response.warnings.empty()) entry["warnings"] = response.warnings;
  return entry;
}

json ErrorEntry(const TransportError& error) {
  return {{"kind", static_cast<int>(error.kind())}, {"text", error.what()}};
}

// Returns the length of `bytes` without an incomplete UTF-8 character at its end.
std::size_t CompleteSize(std::string_view bytes) {
  const std::size_t longest = std::min<std::size_t>(bytes.size(), 3);
  for (std::size_t back = 1; back <= longest; ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if (byte < 0x80) return bytes.size();  // ASCII
    if (byte < 0xc0) continue;             // inside a character
    const std::size_t size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return size > back ? bytes.size() - back : bytes.size();
  }
  return bytes.size();
}

class RecordedStream final : public Stream {
 public:
  RecordedStream(std::unique_ptr<Stream> next, std::shared_ptr<Recorder> recorder,
                 std::uint64_t number, std::string target)
      : next_(std::move(next)),
        recorder_(std::move(recorder)),
        number_(number),
        target_(std::move(target)),
        is_secret_(Redactor::IsSecret(target_)) {}

  [[nodiscard]] const ApiResponse& head() const override { return next_->head(); }

  Chunk Read(Duration limit) override {
    const Chunk chunk = next_->Read(limit);
    if (chunk.state == State::kBytes) Record(chunk.bytes);
    if (chunk.state == State::kEnd) RecordEnd();
    return chunk;
  }

 private:
  void Record(std::string_view bytes) {
    rest_ += bytes;
    if (is_secret_) return RecordSecretEvents();
    const std::size_t size = CompleteSize(rest_);
    if (size == 0) return;
    recorder_->Write({{"stream", number_}, {"bytes", rest_.substr(0, size)}});
    rest_.erase(0, size);
  }

  /// Secret values can only be found in complete JSON: records the events of a watch that are
  /// complete. A list is complete at its end.
  void RecordSecretEvents() {
    if (!IsWatch()) return;
    const std::size_t end = rest_.rfind('\n');
    if (end == std::string::npos) return;
    std::string events;
    for (std::size_t start = 0; start <= end;) {
      const std::size_t newline = rest_.find('\n', start);
      events += recorder_->redactor().Redact(target_, rest_.substr(start, newline - start)) + '\n';
      start = newline + 1;
    }
    recorder_->Write({{"stream", number_}, {"bytes", events}});
    rest_.erase(0, end + 1);
  }

  void RecordEnd() {
    if (is_secret_ && !IsWatch()) {
      recorder_->Write(
          {{"stream", number_}, {"bytes", recorder_->redactor().Redact(target_, rest_)}});
      rest_.clear();
    }
    recorder_->Write({{"stream", number_}, {"end", true}});
  }

  [[nodiscard]] bool IsWatch() const { return target_.find("watch=") != std::string::npos; }

  const std::unique_ptr<Stream> next_;
  const std::shared_ptr<Recorder> recorder_;
  const std::uint64_t number_;
  const std::string target_;
  const bool is_secret_;
  std::string rest_;  // bytes that cannot be recorded until more have arrived
};

class StreamRecordingTransport final : public Transport {
 public:
  StreamRecordingTransport(std::shared_ptr<Transport> next, std::shared_ptr<Recorder> recorder)
      : next_(std::move(next)), recorder_(std::move(recorder)) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    return next_->Call(request, std::move(stop));
  }

  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    auto stream = next_->Open(request, std::move(stop));
    const std::uint64_t number = recorder_->NewStream();
    Redactor& redactor = recorder_->redactor();
    recorder_->Write({{"stream", number},
                      {"open", RequestEntry(request, redactor)},
                      {"response", ResponseEntry(stream->head(), request, redactor)}});
    return std::make_unique<RecordedStream>(std::move(stream), recorder_, number, request.target);
  }

 private:
  const std::shared_ptr<Transport> next_;
  const std::shared_ptr<Recorder> recorder_;
};

class CallRecordingTransport final : public Transport {
 public:
  CallRecordingTransport(std::shared_ptr<Transport> next, std::shared_ptr<Recorder> recorder)
      : next_(std::move(next)), recorder_(std::move(recorder)) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    if (request.traceparent.empty()) return next_->Call(request, std::move(stop));
    Redactor& redactor = recorder_->redactor();
    json entry{{"call", RequestEntry(request, redactor)}};
    try {
      ApiResponse response = next_->Call(request, std::move(stop));
      entry["response"] = ResponseEntry(response, request, redactor);
      recorder_->Write(std::move(entry));
      return response;
    } catch (const TransportError& error) {
      entry["error"] = ErrorEntry(error);
      recorder_->Write(std::move(entry));
      throw;
    }
  }

  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    return next_->Open(request, std::move(stop));
  }

 private:
  const std::shared_ptr<Transport> next_;
  const std::shared_ptr<Recorder> recorder_;
};

}  // namespace

std::shared_ptr<Transport> WithRecordedStreams(std::shared_ptr<Transport> next,
                                               std::shared_ptr<Recorder> recorder) {
  return std::make_shared<StreamRecordingTransport>(std::move(next), std::move(recorder));
}

std::shared_ptr<Transport> WithRecordedCalls(std::shared_ptr<Transport> next,
                                             std::shared_ptr<Recorder> recorder) {
  return std::make_shared<CallRecordingTransport>(std::move(next), std::move(recorder));
}

}  // namespace kopp
