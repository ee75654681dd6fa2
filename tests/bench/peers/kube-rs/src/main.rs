//! kube-rs's informer and controller against the API server of $KUBECONFIG: prints how many seconds the
//! one takes until it has all Pods, and the other until each Foo has its Deployment and a status.
mod controller;
mod informer;

use kube::Client;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::try_default().await?;
    println!("kube_rs_sync {:.3}", informer::sync(client.clone()).await?);
    println!("kube_rs_converge {:.3}", controller::converge(client).await?);
    Ok(())
}
