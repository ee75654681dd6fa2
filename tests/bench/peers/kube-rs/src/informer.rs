use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::reflector::{reflector, store};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client};
use std::pin::pin;
use std::time::Instant;

/// Returns the seconds until a reflector has synced all Pods. Fails if there are none.
pub async fn sync(client: Client) -> Result<f64, Box<dyn std::error::Error>> {
    let start = Instant::now();
    let (reader, writer) = store();
    let mut events = pin!(reflector(writer, watcher(Api::<Pod>::all(client), watcher::Config::default())));
    while let Some(event) = events.next().await {
        if let Event::InitDone = event? {
            break;
        }
    }
    if reader.is_empty() {
        return Err("the reflector has no Pods".into());
    }
    Ok(start.elapsed().as_secs_f64())
}
