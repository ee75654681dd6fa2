//! Benchmarks kube-rs against the API server of $KUBECONFIG. Prints the seconds until a reflector has synced
//! all Pods, and the seconds until a controller has created a Deployment and a status for each Foo.
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
