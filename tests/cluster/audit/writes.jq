# What a controller wrote in a namespace, from an API server's audit log (policy.yaml beside this).
#   jq -nRf writes.jq --arg user USER --arg namespace NAMESPACE audit.log
# Successful writes in their order, each as the object after the write, without what the server sets:
#   deployments  by name: the verb and the object; repeats are dropped
#   status       by Foo: the status; PUT and PATCH count alike; repeats are dropped
#   events       the set of Events, each once however often it was counted up
#   other        any other write at all
# A Foo is called NAME#N, the N-th of that name: uids differ from run to run, who owns what may not.

def calls: # a killed API server may leave half a line
  [inputs | try fromjson catch empty
   | select(.stage == "ResponseComplete" and .responseStatus.code < 300
            and .objectRef.namespace == $namespace)];

def foo_names: # {uid: "NAME#N"}
  reduce (.[].responseObject | select(.kind == "Foo") | .metadata) as $foo ({};
    if has($foo.uid) then .
    else . + {($foo.uid): "\($foo.name)#\([.[] | select(startswith($foo.name + "#"))] | length + 1)"} end);

def without_server_fields($foos):
  del(.apiVersion, .kind, .status,
      (.metadata | .uid, .resourceVersion, .generation, .creationTimestamp, .managedFields, .namespace),
      .spec.template.metadata.creationTimestamp)
  | if .metadata.ownerReferences then .metadata.ownerReferences[].uid |= ($foos[.] // "nobody's") else . end;

# Only at their default: another value is the controller's doing and stays in sight.
def without_defaults:
  del(.spec | (.progressDeadlineSeconds | select(. == 600)),
              (.revisionHistoryLimit | select(. == 10)),
              (.strategy | select(. == {type: "RollingUpdate",
                                        rollingUpdate: {maxSurge: "25%", maxUnavailable: "25%"}})))
  | del(.spec.template.spec
        | (.dnsPolicy | select(. == "ClusterFirst")),
          (.restartPolicy | select(. == "Always")),
          (.schedulerName | select(. == "default-scheduler")),
          (.securityContext | select(. == {})),
          (.terminationGracePeriodSeconds | select(. == 30)))
  | del(.spec.template.spec.containers[]
        | (.imagePullPolicy | select(. == "Always")),
          (.resources | select(. == {})),
          (.terminationMessagePath | select(. == "/dev/termination-log")),
          (.terminationMessagePolicy | select(. == "File")));

# A repeat leaves what the write before it left. A create never does: the object must have gone. Nor
# does a write that took back another's change in between: the object's generation has grown.
def without_repeats:
  reduce .[] as $write ([];
    if $write.verb != "create" and length > 0
       and .[-1].object == $write.object and .[-1].generation == $write.generation
    then . else . + [$write] end)
  | map(del(.generation));

def gather(key; value): reduce .[] as $call ({}; .[$call | key] += [$call | value]);

calls
| foo_names as $foos
| map(select(.user.username == $user
             and (.verb | IN("create", "update", "patch", "delete", "deletecollection"))))
| . as $writes
| ($writes | map(select(.objectRef.resource == "deployments"
                        and .objectRef.subresource == null))) as $deployments
| ($writes | map(select(.objectRef.resource == "foos" and .objectRef.subresource == "status"
                        and (.verb | IN("update", "patch"))))) as $statuses
| ($writes | map(select(.objectRef.resource == "events"))) as $events
| {
    deployments: ($deployments
      | gather(.objectRef.name // .responseObject.metadata.name;
               {verb, generation: .responseObject.metadata.generation,
                object: (.responseObject | without_server_fields($foos) | without_defaults)})
      | map_values(without_repeats)),
    status: ($statuses
      | gather($foos[.responseObject.metadata.uid]; {verb: "status", object: .responseObject.status})
      | map_values(without_repeats | map(.object))),
    events: ($events
      | map(.responseObject | {type, reason, message, component: .source.component,
                               about: (.involvedObject | "\(.apiVersion) \(.kind) \(.name)")})
      | unique),
    other: ($writes - $deployments - $statuses - $events
      | map([.verb, .objectRef.resource, .objectRef.subresource, .objectRef.name] | map(values) | join(" "))
      | unique)
  }
