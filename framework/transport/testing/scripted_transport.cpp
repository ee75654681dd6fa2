#include <algorithm>
#include <iterator>
#include <utility>

#include <kopp/testing/scripted_transport.hpp>

namespace kopp::testing {
namespace {

std::string PathOf(const ApiRequest& request) {
  return request.target.substr(0, request.target.find('?'));
}

bool IsWatch(const ApiRequest& request) {
  return request.target.find("watch=true") != std::string::npos;
}

}  // namespace

/// A stream over a response that is complete from the start.
class ScriptedTransport::ResponseStream final : public Stream {
 public:
  explicit ResponseStream(ApiResponse response) : head_(std::move(response)) {
    if (head_.status == 200) body_ = std::exchange(head_.body, {});
  }
  [[nodiscard]] const ApiResponse& head() const override { return head_; }
  Chunk Read(Duration) override {
    chunk_ = std::exchange(body_, {});
    if (chunk_.empty()) return {State::kEnd, {}};
    return {State::kBytes, chunk_};
  }

 private:
  ApiResponse head_;
  std::string body_;
  std::string chunk_;
};

/// A watch stream. Returns the bytes that the test sends to its path.
class ScriptedTransport::WatchStream final : public Stream {
 public:
  WatchStream(ScriptedTransport& transport, std::string path, std::stop_token stop)
      : transport_(transport), path_(std::move(path)), stop_(std::move(stop)) {
    head_.status = 200;
  }
  [[nodiscard]] const ApiResponse& head() const override { return head_; }

  Chunk Read(Duration limit) override {
    const std::stop_callback wake(stop_, [this] {
      { auto state = transport_.state_.Lock(); }
      transport_.changed_.notify_all();
    });
    const TimePoint deadline = SaturatingAdd(transport_.clock_.Now(), limit);
    auto state = transport_.state_.Lock();
    while (!stop_.stop_requested()) {
      const auto next = std::find_if(state->watch_data.begin(), state->watch_data.end(),
                                     [&](const WatchData& data) { return data.path == path_; });
      if (next != state->watch_data.end()) {
        const std::optional<std::string> bytes = std::move(next->bytes);
        state->watch_data.erase(next);
        if (!bytes) return {State::kEnd, {}};
        chunk_ = *bytes;
        return {State::kBytes, chunk_};
      }
      if (transport_.clock_.Now() >= deadline) return {State::kSilent, {}};
      transport_.clock_.WaitUntil(state.lock(), transport_.changed_, deadline);
    }
    throw TransportError(TransportError::Kind::kCancelled,
                         "the watch was cancelled because a stop was requested");
  }

 private:
  ScriptedTransport& transport_;
  std::string path_;
  std::stop_token stop_;
  ApiResponse head_;
  std::string chunk_;
};

void ScriptedTransport::On(std::string method, std::string path, Handler handler) {
  state_.Lock()->rules.push_front({std::move(method), std::move(path), std::move(handler)});
}

void ScriptedTransport::Respond(std::string method, std::string path, int status,
                                std::string body) {
  On(std::move(method), std::move(path), [status, body = std::move(body)](const ApiRequest&) {
    return ApiResponse{.status = status, .body = body};
  });
}

void ScriptedTransport::SendToWatch(const std::string& path, std::string bytes) {
  state_.Lock()->watch_data.push_back({path, std::move(bytes)});
  changed_.notify_all();
}

void ScriptedTransport::EndWatch(const std::string& path) {
  state_.Lock()->watch_data.push_back({path, std::nullopt});
  changed_.notify_all();
}

std::vector<ApiRequest> ScriptedTransport::Requests() { return state_.Lock()->requests; }

ApiRequest ScriptedTransport::Await(const std::string& method, const std::string& path) {
  return Await(method, path, 1).front();
}

std::vector<ApiRequest> ScriptedTransport::Await(const std::string& method, const std::string& path,
                                                 std::size_t count) {
  std::vector<ApiRequest> found;
  auto state = state_.Lock();
  state.Wait(changed_, [&] {
    found.clear();
    std::copy_if(state->requests.begin(), state->requests.end(), std::back_inserter(found),
                 [&](const ApiRequest& request) {
                   return request.method == method && PathOf(request) == path;
                 });
    return found.size() >= count;
  });
  return found;
}

ApiResponse ScriptedTransport::Handle(const ApiRequest& request) {
  Handler handler;
  {
    auto state = state_.Lock();
    state->requests.push_back(request);
    const auto rule =
        std::find_if(state->rules.begin(), state->rules.end(), [&](const Rule& candidate) {
          return candidate.method == request.method && candidate.path == PathOf(request);
        });
    if (rule != state->rules.end()) handler = rule->handler;
  }
  changed_.notify_all();
  if (handler) return handler(request);
  return {.status = 404,
          .body = R"({"kind":"Status","reason":"NotFound","message":"not in the script"})"};
}

ApiResponse ScriptedTransport::Call(const ApiRequest& request, std::stop_token stop) {
  if (stop.stop_requested()) {
    throw TransportError(TransportError::Kind::kCancelled,
                         "the call was cancelled because a stop was requested");
  }
  if (request.before_send) request.before_send();
  return Handle(request);
}

std::unique_ptr<Stream> ScriptedTransport::Open(const ApiRequest& request, std::stop_token stop) {
  if (!IsWatch(request)) return std::make_unique<ResponseStream>(Handle(request));
  bool scripted = false;
  {
    auto state = state_.Lock();
    scripted = std::any_of(state->rules.begin(), state->rules.end(), [&](const Rule& candidate) {
      return candidate.method == "WATCH" && candidate.path == PathOf(request);
    });
  }
  ApiRequest watch_request = request;
  watch_request.method = "WATCH";
  if (scripted) return std::make_unique<ResponseStream>(Handle(watch_request));
  state_.Lock()->requests.push_back(std::move(watch_request));
  changed_.notify_all();
  return std::make_unique<WatchStream>(*this, PathOf(request), std::move(stop));
}

}  // namespace kopp::testing
