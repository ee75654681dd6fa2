# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# A cluster that is not prepared: the CRD comes after the controller, and first the wrong one.

check_missing_crd() {
  check "A controller whose CRD is not installed says so in one line and goes on running" \
    crd_is_not_installed
  check "With a CRD that has no status subresource the Deployment is made, and the log says what is missing" \
    crd_without_status
  check "When the CRD with the status subresource is installed, the running controller writes the status" \
    crd_with_status
}

not_installed_lines() { controller_log | grep -Eic 'foos\.samplecontroller\.k8s\.io.*not installed|not installed.*foos\.samplecontroller\.k8s\.io' || true; }

crd_is_not_installed() {
  controller_start
  shows 'not installed' 20 controller_log
  stays 1 3 not_installed_lines
  shows 'kubectl apply|install (it|the CRD)' 0 controller_log # what to do about it
  is yes controller_runs
}

install_crd() { # FILE
  kubectl apply -f "$manifests/$1"
  kubectl wait --for=condition=Established --timeout=20s crd/foos.samplecontroller.k8s.io
}

crd_without_status() {
  install_crd crd.yaml
  in_namespace missing-crd
  foo early early 2
  becomes 2 40 replicas early
  shows 'subresource' 10 controller_log
}

crd_with_status() {
  install_crd crd-status-subresource.yaml
  namespace=missing-crd
  becomes 0 60 status early
}
