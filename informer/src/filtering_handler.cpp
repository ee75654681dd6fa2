
#include <kopp/informer/filtering_handler.hpp>

namespace kopp::informer {
namespace {

/// Calls `function` unless it is empty.
template <typename Function, typename... Args>
void CallIfSet(const std::function<Function>& function, const Args&... args) {
  if (function) function(args...);
}

}  // namespace

AnyEventHandler AnyFilteringHandler(const std::function<bool(const AnyObject&)>& filter,
                                    AnyEventHandler handler) {
  const auto shared = std::make_shared<const AnyEventHandler>(std::move(handler));
  return {
      .on_add =
          [filter, shared](const AnyObject& object, bool in_initial_list) {
            if (filter(object)) CallIfSet(shared->on_add, object, in_initial_list);
          },
      .on_update =
          [filter, shared](const AnyObject& before, const AnyObject& after) {
            const bool matched = filter(before);
            const bool matches = filter(after);
            if (matched && matches) CallIfSet(shared->on_update, before, after);
            if (!matched && matches) CallIfSet(shared->on_add, after, /*in_initial_list=*/false);
            if (matched && !matches) {
              CallIfSet(shared->on_delete, before, /*final_state_unknown=*/false);
            }
          },
      .on_delete =
          [filter, shared](const AnyObject& object, bool final_state_unknown) {
            if (filter(object)) CallIfSet(shared->on_delete, object, final_state_unknown);
          },
  };
}

}  // namespace kopp::informer
