//! The native bar for `latency`: an f64 echoed by a Tokio task on another thread, over an mpsc channel
//! with a oneshot channel per answer. Prints the figures of one round, in the shape the JavaScript
//! processes print theirs (`RoundFigure` in `benchmarks/harness/schema.ts`).

use serde_json::json;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

type Request = (f64, oneshot::Sender<f64>);

/// Calls one after the other per sample at batch 1, as in the JavaScript scenario.
const SEQUENTIAL_CALLS: usize = 500;
const BATCHES: [usize; 4] = [1, 10, 100, 1000];

async fn call(requests: &mpsc::UnboundedSender<Request>, value: f64) -> oneshot::Receiver<f64> {
    let (answer, answered) = oneshot::channel();
    requests.send((value, answer)).expect("the worker is there");
    answered
}

/// One sample: a batch, or `SEQUENTIAL_CALLS` single calls. Checks every answer.
async fn run(requests: &mpsc::UnboundedSender<Request>, batch: usize) {
    if batch == 1 {
        for n in 0..SEQUENTIAL_CALLS {
            let value = n as f64 + 0.5;
            assert_eq!(call(requests, value).await.await, Ok(value));
        }
        return;
    }
    let mut answers = Vec::with_capacity(batch);
    for n in 0..batch {
        answers.push(call(requests, n as f64 + 0.5).await);
    }
    for (n, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer.await, Ok(n as f64 + 0.5));
    }
}

/// Microseconds per sample (per call at batch 1), for as long as `time` lasts.
async fn sample(
    requests: &mpsc::UnboundedSender<Request>,
    batch: usize,
    time: Duration,
) -> Vec<f64> {
    let end = Instant::now() + time;
    let mut samples = Vec::new();
    while Instant::now() < end || samples.len() < 20 {
        let start = Instant::now();
        run(requests, batch).await;
        let micros = start.elapsed().as_secs_f64() * 1e6;
        samples.push(if batch == 1 { micros / SEQUENTIAL_CALLS as f64 } else { micros });
    }
    samples
}

/// Sorted, and evenly thinned out to a number that still gives every percentile reported.
fn thin_out(mut samples: Vec<f64>) -> Vec<f64> {
    samples.sort_by(f64::total_cmp);
    let step = (samples.len() as f64 / 2000.0).max(1.0);
    let kept = (samples.len() as f64 / step) as usize;
    (0..kept).map(|index| samples[(index as f64 * step) as usize]).collect()
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let time = Duration::from_millis(if is_quick { 100 } else { 350 });
    let (requests, mut received) = mpsc::unbounded_channel::<Request>();
    tokio::spawn(async move {
        while let Some((value, answer)) = received.recv().await {
            let _ = answer.send(value);
        }
    });
    // The caller is `main` itself, which no worker thread runs: as a task of the runtime it would share
    // the echo task's thread, and nothing would be handed from one thread to another.
    let mut figures = Vec::new();
    for batch in BATCHES {
        sample(&requests, batch, time / 2).await;
        let samples = sample(&requests, batch, time).await;
        figures.push(json!({
            "case": "f64 echo",
            "size": batch,
            "unit": "µs",
            "count": samples.len(),
            "samples": thin_out(samples),
        }));
    }
    println!("{}", serde_json::to_string(&figures).expect("plain numbers"));
}
