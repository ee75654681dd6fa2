#pragma once

/// Includes everything that an operator needs, except two definitions that are rarely used and
/// take long to compile. Also include
/// - <kopp/json.hpp> to write JSON,
/// - <kopp/informer_set.hpp> to add handlers to the result of Cache::InformerFor.

#include <kopp/cache.hpp>
#include <kopp/cache_options.hpp>
#include <kopp/client.hpp>
#include <kopp/cluster.hpp>
#include <kopp/conditions.hpp>
#include <kopp/config.hpp>
#include <kopp/controller.hpp>
#include <kopp/controller/channel.hpp>
#include <kopp/controller/controller_options.hpp>
#include <kopp/controller/event_queue.hpp>
#include <kopp/controller/expectations.hpp>
#include <kopp/controller/handler_functions.hpp>
#include <kopp/controller/reason.hpp>
#include <kopp/controller/reconcile_event.hpp>
#include <kopp/controller/source.hpp>
#include <kopp/controller/watch_handle.hpp>
#include <kopp/controller/with_finalizer.hpp>
#include <kopp/crd.hpp>
#include <kopp/create_or_update.hpp>
#include <kopp/discovery.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/events.hpp>
#include <kopp/field_manager_migration.hpp>
#include <kopp/finalizer.hpp>
#include <kopp/flags.hpp>
#include <kopp/http_server.hpp>
#include <kopp/informer/selector.hpp>
#include <kopp/kinds.hpp>
#include <kopp/leader_election.hpp>
#include <kopp/leader_election/leader_elector.hpp>
#include <kopp/leader_election/write_fence.hpp>
#include <kopp/log.hpp>
#include <kopp/manager.hpp>
#include <kopp/markers.hpp>
#include <kopp/metrics.hpp>
#include <kopp/metrics/custom_metrics.hpp>
#include <kopp/options.hpp>
#include <kopp/owner.hpp>
#include <kopp/permission.hpp>
#include <kopp/read_your_writes.hpp>
#include <kopp/reconcile.hpp>
#include <kopp/rest_mapper.hpp>
#include <kopp/retry.hpp>
#include <kopp/runnable.hpp>
#include <kopp/secret_string.hpp>
#include <kopp/serving/access_review.hpp>
#include <kopp/serving/debug.hpp>
#include <kopp/serving/health.hpp>
#include <kopp/serving/liveness.hpp>
#include <kopp/signals.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/tracing.hpp>
#include <kopp/transport/transport_policies.hpp>
#include <kopp/validate.hpp>
#include <kopp/wait_for.hpp>
