//! The sample controller on kube-rs: it creates a Deployment for each Foo, and writes the Foo's status
//! after each reconcile. operator.cpp has the same operator on kopp. After SIGTERM it prints its counters.
use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::PostParams;
use kube::runtime::controller::{Action, Config, Controller};
use kube::runtime::reflector::{ObjectRef, Store, store};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, CustomResource, Resource, ResourceExt};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const WORKERS: u16 = 4; // as in operator.cpp

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "samplecontroller.k8s.io", version = "v1alpha1", kind = "Foo", namespaced, status = "FooStatus", schema = "disabled")]
#[serde(rename_all = "camelCase")]
pub struct FooSpec {
    deployment_name: String,
    replicas: Option<i32>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FooStatus {
    available_replicas: i32,
}

struct Context {
    client: Client,
    deployments: Store<Deployment>,
    failures: Mutex<HashMap<String, u32>>, // in a row, by namespace and name
    reconciles: AtomicU64,
    conflicts: AtomicU64,
    errors: AtomicU64,
}

fn desired_deployment(foo: &Foo) -> Deployment {
    let labels = json!({"app": "nginx", "controller": foo.name_any()});
    let deployment = json!({
        "metadata": {"name": foo.spec.deployment_name, "namespace": foo.namespace(), "ownerReferences": [foo.controller_owner_ref(&())]},
        "spec": {"replicas": foo.spec.replicas, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "nginx", "image": "nginx:latest"}]}}}});
    serde_json::from_value(deployment).expect("the manifest is a Deployment")
}

fn is_controlled_by(deployment: &Deployment, foo: &Foo) -> bool {
    deployment.owner_references().iter().any(|owner| owner.controller == Some(true) && Some(&owner.uid) == foo.uid().as_ref())
}

async fn ensure_deployment(foo: &Foo, namespace: &str, context: &Context) -> kube::Result<Arc<Deployment>> {
    let name = &foo.spec.deployment_name;
    let api = Api::<Deployment>::namespaced(context.client.clone(), namespace);
    let Some(existing) = context.deployments.get(&ObjectRef::new(name).within(namespace)) else {
        return Ok(Arc::new(api.create(&PostParams::default(), &desired_deployment(foo)).await?));
    };
    if !is_controlled_by(&existing, foo) {
        return Err(kube::Error::Service(format!("the Foo does not control the Deployment {name}").into()));
    }
    if foo.spec.replicas.is_none() || foo.spec.replicas == existing.spec.replicas {
        return Ok(existing);
    }
    Ok(Arc::new(api.replace(name, &PostParams::default(), &desired_deployment(foo)).await?))
}

async fn reconcile(foo: Arc<Foo>, context: Arc<Context>) -> kube::Result<Action> {
    context.deployments.wait_until_ready().await.expect("the watch of Deployments runs");
    context.reconciles.fetch_add(1, Relaxed);
    let namespace = foo.namespace().unwrap_or_default();
    let deployment = ensure_deployment(&foo, &namespace, &context).await?;
    let available_replicas = deployment.status.as_ref().and_then(|status| status.available_replicas).unwrap_or(0);
    let mut updated = (*foo).clone();
    updated.status = Some(FooStatus { available_replicas });
    let foos = Api::<Foo>::namespaced(context.client.clone(), &namespace);
    foos.replace_status(&foo.name_any(), &PostParams::default(), &updated).await?;
    context.failures.lock().expect("no panics").remove(&ObjectRef::from_obj(&*foo).to_string());
    Ok(Action::await_change())
}

/// Delays each retry like kopp and controller-runtime do: 5 ms, doubled with each failure of the Foo.
fn on_error(foo: Arc<Foo>, error: &kube::Error, context: Arc<Context>) -> Action {
    let is_conflict = matches!(error, kube::Error::Api(status) if status.code == 409);
    let counter = if is_conflict { &context.conflicts } else { &context.errors };
    counter.fetch_add(1, Relaxed);
    let mut failures = context.failures.lock().expect("no panics");
    let count = failures.entry(ObjectRef::from_obj(&*foo).to_string()).or_insert(0);
    *count += 1;
    Action::requeue(Duration::from_millis(5 << (*count - 1).min(17)))
}

#[tokio::main]
async fn main() -> kube::Result<()> {
    let client = Client::try_default().await?;
    let (deployments, writer) = store();
    let context = Arc::new(Context {
        client: client.clone(),
        deployments,
        failures: Mutex::default(),
        reconciles: AtomicU64::new(0),
        conflicts: AtomicU64::new(0),
        errors: AtomicU64::new(0),
    });
    // One watch of the Deployments fills the store and triggers the reconciles of their Foos.
    let owned = watcher(Api::all(client.clone()), watcher::Config::default()).default_backoff().reflect(writer).touched_objects();
    Controller::new(Api::<Foo>::all(client), watcher::Config::default())
        .owns_stream::<Deployment>(owned)
        .with_config(Config::default().concurrency(WORKERS))
        .shutdown_on_signal()
        .run(reconcile, on_error, context.clone())
        .for_each(async |_| {})
        .await;
    println!("reconciles {}", context.reconciles.load(Relaxed));
    println!("conflicts {}", context.conflicts.load(Relaxed));
    println!("errors {}", context.errors.load(Relaxed));
    Ok(())
}
