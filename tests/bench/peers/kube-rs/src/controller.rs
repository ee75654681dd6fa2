use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::{conditions, wait::await_condition, watcher};
use kube::{Api, Client, CustomResource, Resource, ResourceExt};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

const FOOS: usize = 200;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "bench.kopp", version = "v1", kind = "Foo", namespaced, status = "FooStatus", schema = "disabled")]
pub struct FooSpec {
    replicas: i32,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct FooStatus {
    available: i32,
}

/// Returns the seconds until a controller has created a Deployment and a status for each new Foo.
pub async fn converge(client: Client) -> Result<f64, Box<dyn std::error::Error>> {
    install_crd(client.clone()).await?;
    let foos = Api::<Foo>::default_namespaced(client.clone());
    for i in 0..FOOS {
        foos.create(&PostParams::default(), &Foo::new(&format!("foo-{i}"), FooSpec { replicas: 1 })).await?;
    }
    let start = Instant::now();
    let controller = Controller::new(foos.clone(), watcher::Config::default())
        .owns(Api::<Deployment>::default_namespaced(client.clone()), watcher::Config::default())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(1)), Arc::new(client))
        .for_each(async |outcome| {
            if let Err(error) = outcome {
                eprintln!("kube-rs: {error}");
            }
        });
    tokio::select! {
        () = controller => Err("the controller ended".into()),
        result = tokio::time::timeout(Duration::from_secs(60), all_have_a_status(foos)) => {
            result??;
            Ok(start.elapsed().as_secs_f64())
        }
    }
}

async fn install_crd(client: Client) -> Result<(), Box<dyn std::error::Error>> {
    let crds = Api::<CustomResourceDefinition>::all(client);
    let crd = json!({
        "metadata": {"name": "foos.bench.kopp"},
        "spec": {"group": "bench.kopp", "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"}, "versions": [{
            "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}});
    crds.create(&PostParams::default(), &serde_json::from_value(crd)?).await?;
    await_condition(crds, "foos.bench.kopp", conditions::is_crd_established()).await?;
    tokio::time::sleep(Duration::from_secs(2)).await; // kube-apiserver delays the first create of a new kind
    Ok(())
}

async fn all_have_a_status(foos: Api<Foo>) -> kube::Result<()> {
    loop {
        let list = foos.list(&Default::default()).await?;
        if list.iter().all(|foo| foo.status.is_some()) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn reconcile(foo: Arc<Foo>, client: Arc<Client>) -> kube::Result<Action> {
    let namespace = foo.namespace().unwrap_or_default();
    let name = foo.name_any();
    let labels = json!({"foo": name});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "ownerReferences": [foo.controller_owner_ref(&())]},
        "spec": {"replicas": foo.spec.replicas, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "nginx:1.27"}]}}}});
    let manager = PatchParams::apply("kube-rs-peers");
    let applied = Api::<Deployment>::namespaced((*client).clone(), &namespace)
        .patch(&name, &manager, &Patch::Apply(deployment))
        .await?;
    let available = applied.status.and_then(|status| status.available_replicas).unwrap_or(0);
    Api::<Foo>::namespaced((*client).clone(), &namespace)
        .patch_status(&name, &Default::default(), &Patch::Merge(json!({"status": {"available": available}})))
        .await?;
    Ok(Action::await_change())
}
