# shellcheck shell=bash disable=SC2154 # shared with ../../node_test.sh
# Runs the commands of the section "Install with Helm" of README.md. The release of the other checks
# is uninstalled.

readme_commands() {
  kubectl delete crd foos.samplecontroller.k8s.io # helm uninstall has kept it
  eventually_equals "" foos_with_deployments
  create_make
  PATH=$folder/bin:$PATH "$root/tests/docs/run_commands.sh" "$root/README.md" "Install with Helm"
  equals 1 kubectl get deployments --all-namespaces -l app.kubernetes.io/name=sample-controller -o 'jsonpath={.items[*].status.readyReplicas}'
  eventually_equals 1 available_replicas example-foo
}

# With sudo, `make` runs as the user who runs this test, so that the files of the build stay theirs.
create_make() {
  [[ -n ${SUDO_USER:-} ]] || return 0
  create_program make sudo --set-home --user="$SUDO_USER" make
}
