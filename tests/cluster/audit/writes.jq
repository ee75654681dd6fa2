# Extracts a controller's writes in a namespace from an API server's audit log (see policy.yaml).
#   jq -nRf writes.jq --arg user USER --arg namespace NAMESPACE audit.log
# Prints the successful writes in their order. Each write has the object after the write, without
# the fields that the server sets:
#   deployments  by name: the verb and the object; repeated writes are removed
#   status       by Foo: the status, written by PUT or PATCH; repeated writes are removed
#   events       the set of Events, regardless of their counts
#   other        all other writes
# NAME#N identifies the N-th Foo with that name: uids differ between runs, but ownership must not.

def calls: # a killed API server may leave an incomplete line
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
  | if .metadata.ownerReferences then .metadata.ownerReferences[].uid |= ($foos[.] // "unknown owner") else . end;

# Removes only default values: any other value was set by the controller and is kept.
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

# Removes writes that leave the object as the previous write did. Keeps each create, because the
# object was deleted before it. Keeps a write that reverted a change of another client, because the
# object's generation has increased.
def without_repeats:
  reduce .[] as $write ([];
    if $write.verb != "create" and length > 0
       and .[-1].object == $write.object and .[-1].generation == $write.generation
    then . else . + [$write] end)
  | map(del(.generation));

def group_values(key; value): reduce .[] as $call ({}; .[$call | key] += [$call | value]);

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
      | group_values(.objectRef.name // .responseObject.metadata.name;
               {verb, generation: .responseObject.metadata.generation,
                object: (.responseObject | without_server_fields($foos) | without_defaults)})
      | map_values(without_repeats)),
    status: ($statuses
      | group_values($foos[.responseObject.metadata.uid]; {verb: "status", object: .responseObject.status})
      | map_values(without_repeats | map(.object))),
    events: ($events
      | map(.responseObject | {type, reason, message, component: .source.component,
                               about: (.involvedObject | "\(.apiVersion) \(.kind) \(.name)")})
      | unique),
    other: ($writes - $deployments - $statuses - $events
      | map([.verb, .objectRef.resource, .objectRef.subresource, .objectRef.name] | map(values) | join(" "))
      | unique)
  }
