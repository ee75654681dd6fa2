#pragma once

/// Includes everything that an operator needs, including nlohmann::json.

#include <nlohmann/json.hpp>

#include <kopp/access_review.hpp>
#include <kopp/cache.hpp>
#include <kopp/cache_options.hpp>
#include <kopp/channel.hpp>
#include <kopp/client.hpp>
#include <kopp/cluster.hpp>
#include <kopp/conditions.hpp>
#include <kopp/config.hpp>
#include <kopp/controller.hpp>
#include <kopp/create_or_update.hpp>
#include <kopp/custom_metrics.hpp>
#include <kopp/debug.hpp>
#include <kopp/discovery.hpp>
#include <kopp/event_queue.hpp>
#include <kopp/events.hpp>
#include <kopp/health.hpp>
#include <kopp/finalizer.hpp>
#include <kopp/handler_functions.hpp>
#include <kopp/flags.hpp>
#include <kopp/http_server.hpp>
#include <kopp/informer/selector.hpp>
#include <kopp/kinds.hpp>
#include <kopp/leader_election.hpp>
#include <kopp/liveness.hpp>
#include <kopp/log.hpp>
#include <kopp/manager.hpp>
#include <kopp/metrics.hpp>
#include <kopp/options.hpp>
#include <kopp/owner.hpp>
#include <kopp/permission.hpp>
#include <kopp/read_your_writes.hpp>
#include <kopp/reason.hpp>
#include <kopp/reconcile.hpp>
#include <kopp/rest_mapper.hpp>
#include <kopp/retry.hpp>
#include <kopp/runnable.hpp>
#include <kopp/secret_string.hpp>
#include <kopp/signals.hpp>
#include <kopp/source.hpp>
#include <kopp/transport_policies.hpp>
#include <kopp/watch_handle.hpp>
