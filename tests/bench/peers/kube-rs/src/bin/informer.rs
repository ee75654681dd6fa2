//! Measures kube-rs's reflectors. It does the same work and prints the same lines as informer_bench.cpp
//! does for kopp, with the API server of $KUBECONFIG.
//!
//!     informer pods|configmaps typed|metadata events COUNT
//!     informer pods|configmaps typed|metadata reads SECONDS
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::core::PartialObjectMeta;
use kube::runtime::reflector::{Lookup, ObjectRef, Store, reflector, store};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::hash::Hash;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

// The same number is in informer_bench.cpp.
const READ_KEYS: usize = 100_000;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
type Events<'a, K> = Pin<&'a mut dyn Stream<Item = watcher::Result<Event<K>>>>;

fn print(measure: &str, value: f64) {
    println!("{measure} {value:.9}");
}

fn cpu_seconds() -> f64 {
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn status_mib(field: &str) -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(field)).ok_or("no such field")?;
    Ok(line.split_whitespace().nth(1).ok_or("no value")?.parse::<f64>()? / 1024.0)
}

fn heap_bytes() -> f64 {
    let heap = unsafe { libc::mallinfo2() };
    (heap.uordblks + heap.hblkhd) as f64
}

async fn measure_sync<K>(events: &mut Events<'_, K>, store: &Store<K>) -> Result<()>
where
    K: Lookup + Clone + 'static,
    K::DynamicType: Eq + Hash + Clone,
{
    let (heap, start, cpu) = (heap_bytes(), Instant::now(), cpu_seconds());
    while !matches!(events.next().await.ok_or("the watch ended")??, Event::InitDone) {}
    let cpu = cpu_seconds() - cpu;
    print("sync_wall", start.elapsed().as_secs_f64());
    print("sync_cpu", cpu);
    print("peak_rss", status_mib("VmHWM:")?);
    let objects = store.len() as f64;
    print("object_cpu", cpu * 1e6 / objects);
    print("object_bytes", (heap_bytes() - heap) / objects);
    unsafe { libc::malloc_trim(0) };
    print("settled_rss", status_mib("VmRSS:")?); // the last line of the sync: informer.sh waits for it
    Ok(())
}

async fn measure_events<K>(events: &mut Events<'_, K>, count: u64) -> Result<()> {
    let cpu = cpu_seconds();
    let mut updates = 0;
    while updates < count {
        updates += u64::from(matches!(events.next().await.ok_or("the watch ended")??, Event::Apply(_)));
    }
    print("event_cpu", (cpu_seconds() - cpu) * 1e6 / count as f64);
    Ok(())
}

/// Gets random objects in a thread while this one applies the events of the server.
async fn measure_reads<K>(events: &mut Events<'_, K>, store: Store<K>, seconds: u64) -> Result<()>
where
    K: Lookup + Clone + Send + Sync + 'static,
    K::DynamicType: Eq + Hash + Clone + Default + Send + Sync,
{
    let updates = Arc::new(AtomicU64::new(0));
    let counted = updates.clone();
    let reader = std::thread::spawn(move || read_objects(&store, &counted, Duration::from_secs(seconds)));
    while !reader.is_finished() {
        if let Event::Apply(_) = events.next().await.ok_or("the watch ended")?? {
            updates.fetch_add(1, Relaxed);
        }
    }
    reader.join().map_err(|_| "the store has lost an object")?;
    Ok(())
}

fn read_objects<K>(store: &Store<K>, updates: &AtomicU64, duration: Duration)
where
    K: Lookup + Clone + 'static,
    K::DynamicType: Eq + Hash + Clone + Default,
{
    // The state of the store is a hash table with a random seed, so its order is random.
    let keys: Vec<ObjectRef<K>> = store.state().iter().take(READ_KEYS).map(|object| object.to_object_ref(Default::default())).collect();
    let mut histogram = vec![0u64; 1_000_000]; // by nanoseconds
    let (first, start, mut reads) = (updates.load(Relaxed), Instant::now(), 0usize);
    while start.elapsed() < duration {
        let key = &keys[reads % keys.len()];
        let before = Instant::now();
        let object = store.get(key);
        let nanoseconds = before.elapsed().as_nanos() as usize;
        assert!(object.is_some());
        histogram[nanoseconds.min(999_999)] += 1;
        reads += 1;
    }
    print("events_per_second", (updates.load(Relaxed) - first) as f64 / start.elapsed().as_secs_f64());
    for (name, quantile) in [("get_p50", 0.5), ("get_p99", 0.99)] {
        let mut sum = 0;
        let nanoseconds = histogram.iter().position(|count| {
            sum += count;
            sum as f64 >= quantile * reads as f64
        });
        print(name, nanoseconds.unwrap_or(0) as f64);
    }
}

async fn measure<K>(api: Api<K>, phase: &str, number: u64) -> Result<()>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    K::DynamicType: Eq + Hash + Clone + Default + Send + Sync,
{
    let (reader, writer) = store();
    let mut events: Events<K> = pin!(reflector(writer, watcher(api, watcher::Config::default())));
    measure_sync(&mut events, &reader).await?;
    match phase {
        "events" => measure_events(&mut events, number).await,
        _ => measure_reads(&mut events, reader, number).await,
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [resource, form, phase, number] = arguments.as_slice() else {
        return Err("usage: informer RESOURCE FORM events|reads NUMBER".into());
    };
    let (client, number) = (Client::try_default().await?, number.parse()?);
    match (resource.as_str(), form.as_str()) {
        ("pods", "typed") => measure(Api::<Pod>::all(client), phase, number).await,
        ("pods", "metadata") => measure(Api::<PartialObjectMeta<Pod>>::all(client), phase, number).await,
        ("configmaps", "typed") => measure(Api::<ConfigMap>::all(client), phase, number).await,
        _ => Err(format!("unknown form: {resource} {form}").into()),
    }
}
