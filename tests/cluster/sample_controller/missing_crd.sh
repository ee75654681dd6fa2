# shellcheck shell=bash disable=SC2154,SC2034 # shared with ../sample_controller_test.sh
# Checks missing and incomplete CRDs: none at first, then one without the status subresource.

check_missing_crd() {
  check "A missing CRD causes exit code 1 and one line that asks to install it" \
    crd_is_not_installed
  check "With a CRD without status subresource, the Deployment is created and the log names the problem" \
    crd_without_status
  check "After the CRD with the status subresource is installed, the running controller writes the status" \
    crd_with_status
}

crd_is_not_installed() {
  local kubeconfig=$state/sample-controller-certificate.kubeconfig
  fails_with_message 1 "install the CustomResourceDefinition of Foo" --kubeconfig "$kubeconfig"
  grep -qF 'foos of samplecontroller.k8s.io/v1alpha1' "$state/stderr"
}

install_crd() { # FILE
  kubectl apply -f "$manifests/$1"
  await_kind samplecontroller.k8s.io/v1alpha1 foos
}

crd_without_status() {
  install_crd crd.yaml
  start_controller_process
  use_new_namespace missing-crd
  create_foo early early 2
  eventually_equals 2 replicas early
  eventually_matches 'subresource' controller_log
}

crd_with_status() {
  install_crd crd-status-subresource.yaml
  namespace=missing-crd
  eventually_equals 0 available_replicas early
}
