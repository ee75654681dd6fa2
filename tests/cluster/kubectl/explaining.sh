# shellcheck shell=bash disable=SC2154,SC2016 # shared with ../kubectl_test.sh
# Tests kubectl explain, which prints the types of the OpenAPI documents.

check_explaining() {
  check "explain prints a field of a built-in kind with its fields and their enum values" explain_field
  check "explain --recursive prints all fields of a kind" explain_recursively
  check "explain prints a field of a custom resource, with its constraints" explain_custom_resource
  check "explain prints the metadata of a custom resource" explain_metadata_of_custom_resource
  check "explain fails for a field that does not exist" explain_missing_field
}

explain_field() {
  equals 'GROUP:      apps
KIND:       Deployment
VERSION:    v1

FIELD: strategy <DeploymentStrategy>


DESCRIPTION:
    The deployment strategy to use to replace existing pods with new ones.
    DeploymentStrategy describes how to replace existing pods with new ones.
    
FIELDS:
  rollingUpdate	<RollingUpdateDeployment>
    Rolling update config params. Present only if DeploymentStrategyType =
    RollingUpdate.

  type	<string>
  enum: Recreate, RollingUpdate
    Type of deployment. Can be "Recreate" or "RollingUpdate". Default is
    RollingUpdate.
    
    Possible enum values:
     - `"Recreate"` Kill all existing pods before creating new ones.
     - `"RollingUpdate"` Replace the old ReplicaSets by new one using rolling
    update i.e gradually scale down the old ReplicaSets and scale up the new
    one.' kubectl explain deployment.spec.strategy
}

# A Pod has 1,400 fields, so this compares their number and some of them.
explain_recursively() {
  kubectl explain pods --recursive >"$state/pods.txt"
  matches '^        name	<string> -required-$' cat "$state/pods.txt"
  matches '^    nodeSelector	<map\[string\]string>$' cat "$state/pods.txt"
  matches '^        containerPort	<integer> -required-$' grep -A 1 '^      ports	<\[\]ContainerPort>$' "$state/pods.txt"
  matches '^        enum: SCTP, TCP, UDP$' cat "$state/pods.txt"
  equals 1409 line_count "$state/pods.txt"
}

line_count() { wc -l <"$1"; } # FILE

# A kube-apiserver publishes the types of a new definition after a second.
explain_custom_resource() {
  eventually_equals 'GROUP:      test.kopp.example
KIND:       Widget
VERSION:    v1

FIELD: spec <Object>


DESCRIPTION:
    The wanted state of the widget.
    
FIELDS:
  colour	<string> -required-
  enum: red, green, blue
    <no description>

  note	<string>
    <no description>

  replicas	<integer>
    <no description>' kubectl explain widget.spec
}

explain_metadata_of_custom_resource() {
  matches '^FIELD: labels <map\[string\]string>$' kubectl explain widget.metadata.labels
  matches '^ +Map of string keys and values that can be used to organize and categorize$' \
    kubectl explain widget.metadata.labels
}

explain_missing_field() {
  matches '^error: field "nothing" does not exist$' kubectl explain deployment.spec.nothing
}
