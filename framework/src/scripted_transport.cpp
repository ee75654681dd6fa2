#include <algorithm>
#include <iterator>
#include <utility>

#include <kopp/testing/scripted_transport.hpp>

namespace kopp::testing {
namespace {

std::string PathOf(const Request& request) {
  return request.target.substr(0, request.target.find('?'));
}

bool IsWatch(const Request& request) {
  return request.target.find("watch=true") != std::string::npos;
}

}  // namespace

/// An answer that is there at once.
class ScriptedTransport::WholeStream final : public Stream {
 public:
  explicit WholeStream(Response response) : head_(std::move(response)) {
    if (head_.status == 200) body_ = std::exchange(head_.body, {});
  }
  [[nodiscard]] const Response& head() const override { return head_; }
  Chunk Read(Duration) override {
    last_ = std::exchange(body_, {});
    if (last_.empty()) return {State::kEnd, {}};
    return {State::kBytes, last_};
  }

 private:
  Response head_;
  std::string body_;
  std::string last_;
};

/// A watch: reads what the test sends to its path.
class ScriptedTransport::WatchStream final : public Stream {
 public:
  WatchStream(ScriptedTransport& transport, std::string path, std::stop_token stop)
      : transport_(transport), path_(std::move(path)), stop_(std::move(stop)) {
    head_.status = 200;
  }
  [[nodiscard]] const Response& head() const override { return head_; }

  Chunk Read(Duration limit) override {
    const std::stop_callback wake(stop_, [this] {
      { auto state = transport_.state_.Lock(); }
      transport_.changed_.notify_all();
    });
    const TimePoint deadline = After(transport_.clock_.Now(), limit);
    auto state = transport_.state_.Lock();
    while (!stop_.stop_requested()) {
      const auto mine = std::find_if(state->sent.begin(), state->sent.end(),
                                     [&](const Sent& sent) { return sent.path == path_; });
      if (mine != state->sent.end()) {
        const std::optional<std::string> bytes = std::move(mine->bytes);
        state->sent.erase(mine);
        if (!bytes) return {State::kEnd, {}};
        last_ = *bytes;
        return {State::kBytes, last_};
      }
      if (transport_.clock_.Now() >= deadline) return {State::kSilent, {}};
      transport_.clock_.WaitUntil(state.lock(), transport_.changed_, deadline);
    }
    throw TransportError(TransportError::Kind::kCancelled, "the watch was stopped");
  }

 private:
  ScriptedTransport& transport_;
  std::string path_;
  std::stop_token stop_;
  Response head_;
  std::string last_;
};

void ScriptedTransport::On(std::string method, std::string path, Answer answer) {
  state_.Lock()->rules.push_front({std::move(method), std::move(path), std::move(answer)});
}

void ScriptedTransport::Reply(std::string method, std::string path, int status, std::string body) {
  On(std::move(method), std::move(path), [status, body = std::move(body)](const Request&) {
    return Response{.status = status, .body = body};
  });
}

void ScriptedTransport::SendToWatch(const std::string& path, std::string bytes) {
  state_.Lock()->sent.push_back({path, std::move(bytes)});
  changed_.notify_all();
}

void ScriptedTransport::EndWatch(const std::string& path) {
  state_.Lock()->sent.push_back({path, std::nullopt});
  changed_.notify_all();
}

std::vector<Request> ScriptedTransport::Requests() { return state_.Lock()->requests; }

Request ScriptedTransport::Await(const std::string& method, const std::string& path) {
  return Await(method, path, 1).front();
}

std::vector<Request> ScriptedTransport::Await(const std::string& method, const std::string& path,
                                              std::size_t count) {
  std::vector<Request> found;
  auto state = state_.Lock();
  state.Wait(changed_, [&] {
    found.clear();
    std::copy_if(state->requests.begin(), state->requests.end(), std::back_inserter(found),
                 [&](const Request& request) {
                   return request.method == method && PathOf(request) == path;
                 });
    return found.size() >= count;
  });
  return found;
}

Response ScriptedTransport::AnswerTo(const Request& request) {
  Answer answer;
  {
    auto state = state_.Lock();
    state->requests.push_back(request);
    const auto rule = std::find_if(state->rules.begin(), state->rules.end(), [&](const Rule& each) {
      return each.method == request.method && each.path == PathOf(request);
    });
    if (rule != state->rules.end()) answer = rule->answer;
  }
  changed_.notify_all();
  if (answer) return answer(request);
  return {.status = 404,
          .body = R"({"kind":"Status","reason":"NotFound","message":"not in the script"})"};
}

Response ScriptedTransport::Call(const Request& request, std::stop_token stop) {
  if (stop.stop_requested()) {
    throw TransportError(TransportError::Kind::kCancelled, "the call was stopped");
  }
  return AnswerTo(request);
}

std::unique_ptr<Stream> ScriptedTransport::Open(const Request& request, std::stop_token stop) {
  if (!IsWatch(request)) return std::make_unique<WholeStream>(AnswerTo(request));
  bool scripted = false;
  {
    auto state = state_.Lock();
    scripted = std::any_of(state->rules.begin(), state->rules.end(), [&](const Rule& each) {
      return each.method == "WATCH" && each.path == PathOf(request);
    });
  }
  Request asked = request;
  asked.method = "WATCH";
  if (scripted) return std::make_unique<WholeStream>(AnswerTo(asked));
  state_.Lock()->requests.push_back(std::move(asked));
  changed_.notify_all();
  return std::make_unique<WatchStream>(*this, PathOf(request), std::move(stop));
}

}  // namespace kopp::testing
