//! A Tokio task on another thread, over an mpsc channel with a oneshot channel per answer.
//!
//! A value is cloned when it is sent and again when it is answered, as JavaScript copies both ways; of an
//! `Arc` that clones the reference alone, so those figures are kept apart: shared ownership, no copies.

use crate::payloads::{self, BATCHES, F64_BYTES, SIZES};
use crate::sampling::{Budget, Clock, Figures, Shape};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};

pub const NAME: &str = "tokio mpsc + oneshot";
pub const SHARED_NAME: &str = "tokio, Arc<Vec<u8>>";

type Request<T> = (T, oneshot::Sender<T>);

/// What is sent has to be cloned, handed to another thread and compared with its answer.
trait Payload: Clone + Debug + PartialEq + Send + Sync + 'static {}
impl<T: Clone + Debug + PartialEq + Send + Sync + 'static> Payload for T {}

struct Echo<T> {
    requests: mpsc::UnboundedSender<Request<T>>,
    values: Vec<T>,
    next: usize,
}

impl<T: Payload> Echo<T> {
    /// The echo task ends with the channel.
    fn start(values: &[T]) -> Self {
        let (requests, mut received) = mpsc::unbounded_channel::<Request<T>>();
        tokio::spawn(async move {
            while let Some((value, answer)) = received.recv().await {
                let _ = answer.send(value.clone());
            }
        });
        Self { requests, values: values.to_vec(), next: 0 }
    }

    fn call(&mut self) -> oneshot::Receiver<T> {
        let value = self.values[self.next % self.values.len()].clone();
        self.next += 1;
        let (answer, answered) = oneshot::channel();
        self.requests.send((value, answer)).expect("the worker is there");
        answered
    }

    /// One sample.
    async fn run(&mut self, shape: Shape) {
        if shape.batch == 1 {
            for _ in 0..shape.sequential {
                self.call().await.expect("an answer");
            }
            return;
        }
        let answers: Vec<_> = (0..shape.batch).map(|_| self.call()).collect();
        for answer in answers {
            answer.await.expect("an answer");
        }
    }

    /// An untimed batch whose answers are compared with what was sent.
    async fn check(&mut self, batch: usize) {
        let first = self.next;
        let answers: Vec<_> = (0..batch).map(|_| self.call()).collect();
        for (n, answer) in answers.into_iter().enumerate() {
            assert_eq!(answer.await.as_ref(), Ok(&self.values[(first + n) % self.values.len()]));
        }
    }

    async fn sample(&mut self, shape: Shape, budget: Budget) -> Vec<f64> {
        let mut samples = Vec::new();
        let mut clock = Clock::start(budget);
        while clock.goes_on() {
            let start = Instant::now();
            self.run(shape).await;
            samples.push(shape.micros(start.elapsed()));
        }
        samples
    }

    async fn measure(&mut self, shape: Shape, budget: Budget) -> Vec<f64> {
        self.check(shape.batch).await;
        self.sample(shape, budget.warm_up()).await;
        let samples = self.sample(shape, budget).await;
        self.check(shape.batch).await;
        samples
    }
}

pub async fn latency(
    figures: &mut Figures,
    values: &[f64],
    batches: &[usize],
    sequential: usize,
) {
    let mut echo = Echo::start(values);
    for &batch in batches {
        let samples = echo.measure(Shape { batch, sequential }, figures.budget).await;
        figures.add_latency("f64 echo", batch, samples);
    }
}

async fn add<T: Payload>(figures: &mut Figures, kind: &str, size: usize, values: &[T]) {
    let mut echo = Echo::start(values);
    for batch in BATCHES {
        let shape = Shape { batch, sequential: payloads::sequential(size) };
        let samples = echo.measure(shape, figures.budget).await;
        figures.add(kind, size, batch, samples);
    }
}

pub async fn copies(figures: &mut Figures) {
    add(figures, "f64", F64_BYTES, &payloads::numbers()).await;
    for size in SIZES {
        add(figures, "string", size, &payloads::texts(size)).await;
    }
    for size in SIZES {
        add(figures, "bytes", size, &payloads::bytes(size)).await;
    }
}

pub async fn shared(figures: &mut Figures) {
    for size in SIZES {
        let values: Vec<_> = payloads::bytes(size).into_iter().map(Arc::new).collect();
        add(figures, "bytes", size, &values).await;
    }
}
