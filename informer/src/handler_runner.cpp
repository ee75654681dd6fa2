#include "handler_runner.hpp"

#include "handler_call.hpp"

#include <chrono>

#include <kopp/informer/detail/exception_text.hpp>

namespace kopp::informer::detail {
namespace {

using namespace std::chrono_literals;

// A call that takes longer is reported.
constexpr Duration kSlowCall = 1min;

const char* FunctionName(HandlerEvent::Type type) {
  switch (type) {
    case HandlerEvent::Type::kAdd:
      return "on_add";
    case HandlerEvent::Type::kUpdate:
      return "on_update";
    default:
      return "on_delete";
  }
}

}  // namespace

void HandlerRunner::AwaitInitialList() { state_.Lock()->awaits_list = true; }

void HandlerRunner::PushInitialList(std::vector<AnyObject> objects) {
  HandlerQueue queue;
  for (AnyObject& object : objects) {
    queue.Push({HandlerEvent::Type::kAdd, std::move(object), {}, /*in_initial_list=*/true});
  }
  queue.Push({HandlerEvent::Type::kSynced});
  {
    auto state = state_.Lock();
    if (state->stopped) return;
    while (!state->queue.empty()) queue.Push(state->queue.Pop());
    std::swap(state->queue, queue);
    state->awaits_list = false;
  }
  changed_.notify_all();
}

void HandlerRunner::Start() {
  if (options_.delivery != Delivery::kOwnThread) return;
  auto state = state_.Lock();
  if (state->stopped) return;
  state->thread = std::thread([self = shared_from_this()] { self->RunThread(); });
  state->has_thread = true;
}

void HandlerRunner::RunThread() {
  while (true) {
    HandlerEvent event;
    {
      auto state = state_.Lock();
      state.Wait(changed_, [&] { return state->stopped || state->HasNext(); });
      if (state->stopped) {
        BeginCall(*state, event);
        break;
      }
      event = state->queue.Pop();
      BeginCall(*state, event);
    }
    CallAndEnd(event);
  }
  DestroyHandler();
  state_.Lock()->has_thread = false;
  changed_.notify_all();
}

void HandlerRunner::CallPending() {
  if (options_.delivery == Delivery::kOwnThread) return;
  while (true) {
    HandlerEvent event;
    {
      auto state = state_.Lock();
      if (state->Busy() || !state->HasNext()) return;
      event = state->queue.Pop();
      BeginCall(*state, event);
    }
    CallAndEnd(event);
  }
}

void HandlerRunner::Deliver(const HandlerEvent& event) {
  auto state = state_.Lock();
  if (state->stopped) return;
  const bool busy = state->Busy() || state->awaits_list;
  if (options_.delivery != Delivery::kOwnThread && !busy && state->queue.empty()) {
    BeginCall(*state, event);
    state.lock().unlock();
    return CallAndEnd(event);
  }
  state->queue.Push(event);  // for the thread of the handler, or for CallPending
  state.lock().unlock();     // the thread that wakes up needs the lock
  if (!busy) changed_.notify_all();
}

void HandlerRunner::BeginCall(State& state, const HandlerEvent& event) {
  state.caller = std::this_thread::get_id();
  state.call_started = informer_.clock.Now();
  state.current = event.object;
  state.slow_reported = false;
  if (event.type != HandlerEvent::Type::kSynced) ++state.calls;
}

void HandlerRunner::CallAndEnd(const HandlerEvent& event) {
  if (event.type == HandlerEvent::Type::kSynced) {
    state_.Lock()->synced = true;
    changed_.notify_all();
  } else if (const std::exception_ptr error = Call(event)) {
    ++state_.Lock()->errors;
    ReportException(event, error, ++consecutive_errors_);
  } else {
    consecutive_errors_ = 0;
  }
  AnyObject released;  // destroyed without the lock
  {
    auto state = state_.Lock();
    released = std::exchange(state->current, {});
    if (!state->stopped) {
      state->caller = {};
      return;
    }
  }
  DestroyHandler();
}

/// Call it after a stop, on the thread that is State::caller: the destructor of the handler may
/// call Remove.
void HandlerRunner::DestroyHandler() {
  handler_ = {};
  state_.Lock()->caller = {};
  changed_.notify_all();
}

std::exception_ptr HandlerRunner::Call(const HandlerEvent& event) const {
  const auto call = [](const auto& function, const auto&... args) {
    if (function) function(args...);
  };
  const HandlerCall scope(event);
  try {
    if (event.type == HandlerEvent::Type::kAdd) {
      call(handler_.on_add, event.object, event.in_initial_list);
    } else if (event.type == HandlerEvent::Type::kUpdate) {
      call(handler_.on_update, event.before, event.object);
    } else {
      call(handler_.on_delete, event.object, event.final_state_unknown);
    }
    return nullptr;
  } catch (...) {
    return std::current_exception();
  }
}

void HandlerRunner::RequestStop() {
  HandlerQueue dropped;
  bool is_idle = false;
  {
    auto state = state_.Lock();
    if (std::exchange(state->stopped, true)) return;
    is_idle = state->Ended();
    if (is_idle) BeginCall(*state, {});
    std::swap(dropped, state->queue);
  }
  changed_.notify_all();
  if (is_idle) DestroyHandler();  // otherwise the caller or the thread destroys it
}

bool HandlerRunner::WaitUntilEnded(TimePoint deadline) {
  auto state = state_.Lock();
  while (!state->Ended() && informer_.clock.Now() < deadline) {
    informer_.clock.WaitUntil(state.lock(), changed_, deadline);
  }
  return state->Ended();
}

void HandlerRunner::Remove() {
  RequestStop();
  std::thread thread;
  {
    auto state = state_.Lock();
    thread = std::move(state->thread);
    if (state->caller == std::this_thread::get_id()) {
      if (thread.joinable()) thread.detach();
      return;
    }
    state.Wait(changed_, [&] { return state->Ended(); });
  }
  if (thread.joinable()) thread.join();
}

bool HandlerRunner::Ended() {
  auto state = state_.Lock();
  return state->stopped && state->Ended();
}

bool HandlerRunner::HasSynced() { return state_.Lock()->synced; }

bool HandlerRunner::WaitForSync(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] {
    { auto state = state_.Lock(); }
    changed_.notify_all();
  });
  auto state = state_.Lock();
  state.Wait(changed_, [&] { return state->synced || state->stopped || stop.stop_requested(); });
  return state->synced;
}

HandlerStatus HandlerRunner::Status() {
  auto state = state_.Lock();
  return {.name = options_.name,
          .synced = state->synced,
          .queue_depth = state->queue.size(),
          .busy = state->Busy(),
          .busy_for = state->Busy() ? informer_.clock.Now() - state->call_started : Duration{},
          .calls = state->calls,
          .errors = state->errors};
}

TimePoint HandlerRunner::ReportSlowCall(TimePoint now) {
  std::string problem;
  TimePoint next_check;
  {
    auto state = state_.Lock();
    next_check = state->queue.empty() ? TimePoint::max() : SaturatingAdd(now, kSlowCall);
    if (state->stopped || !state->current || state->slow_reported) return next_check;
    if (now - state->call_started < kSlowCall) return SaturatingAdd(state->call_started, kSlowCall);
    state->slow_reported = true;
    problem = "handler \"" + options_.name + "\" has been busy with " +
              state->current.key().ToString() + " for a minute; its other events wait";
  }
  if (informer_.on_problem) informer_.on_problem(problem, /*minor=*/false);
  return next_check;
}

void HandlerRunner::ReportException(const HandlerEvent& event, const std::exception_ptr& error,
                                    int consecutive) const {
  if (informer_.on_error) {
    informer_.on_error({.error = error,
                        .informer = informer_.name,
                        .handler = options_.name,
                        .key = event.object.key(),
                        .consecutive_failures = consecutive});
  }
  if (!informer_.on_problem) return;
  informer_.on_problem("handler \"" + options_.name + "\" threw in " + FunctionName(event.type) +
                           " for " + event.object.key().ToString() + ": " +
                           kopp::detail::ExceptionText(error) + "; other handlers are not affected",
                       /*minor=*/false);
}

}  // namespace kopp::informer::detail

namespace kopp::informer {

HandlerRegistration::HandlerRegistration(std::shared_ptr<detail::HandlerRunner> runner)
    : runner_(std::move(runner)) {}

const std::string& HandlerRegistration::name() const { return runner_->options().name; }

bool HandlerRegistration::HasSynced() const { return runner_->HasSynced(); }

bool HandlerRegistration::WaitForSync(const std::stop_token& stop) const {
  return runner_->WaitForSync(stop);
}

void HandlerRegistration::Remove() { runner_->Remove(); }

}  // namespace kopp::informer
