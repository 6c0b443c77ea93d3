//! Values echoed by another thread, in three ways that are measured alike.
//!
//! A value is cloned when it is sent and again when it is answered, as JavaScript copies both ways; of an
//! `Arc` that clones the reference alone, so those figures are kept apart: shared ownership, no copies.

use crate::payloads::{self, BATCHES, F64_BYTES, SIZES};
use crate::sampling::{Budget, Clock, Figures, Shape};
use std::fmt::Debug;
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};

pub const TOKIO: &str = "tokio mpsc + oneshot";
pub const SHARED: &str = "tokio, Arc<Vec<u8>>";
pub const CROSSBEAM: &str = "crossbeam-channel";
pub const SPINNING: &str = "spinning pair";

/// What is sent has to be cloned, handed to another thread and compared with its answer.
pub trait Payload: Clone + Debug + PartialEq + Send + Sync + 'static {}
impl<T: Clone + Debug + PartialEq + Send + Sync + 'static> Payload for T {}

/// Another thread that answers each value with the same one.
pub trait Echo<T> {
    type Answer;
    fn call(&mut self, value: T) -> Self::Answer;
    /// Answers are awaited in the order of their calls.
    async fn answer(&mut self, answer: Self::Answer) -> T;
}

/// A Tokio task, over an mpsc channel with a oneshot channel per answer. The task ends with the channel.
struct Task<T>(mpsc::UnboundedSender<(T, oneshot::Sender<T>)>);

impl<T: Payload> Task<T> {
    fn start() -> Self {
        let (requests, mut received) = mpsc::unbounded_channel::<(T, oneshot::Sender<T>)>();
        tokio::spawn(async move {
            while let Some((value, answer)) = received.recv().await {
                let _ = answer.send(value.clone());
            }
        });
        Self(requests)
    }
}

impl<T: Payload> Echo<T> for Task<T> {
    type Answer = oneshot::Receiver<T>;

    fn call(&mut self, value: T) -> Self::Answer {
        let (answer, answered) = oneshot::channel();
        self.0.send((value, answer)).expect("the worker is there");
        answered
    }

    async fn answer(&mut self, answer: Self::Answer) -> T {
        answer.await.expect("an answer")
    }
}

/// A thread that blocks on a crossbeam channel, and one that blocks on the channel of its answers.
struct Channels<T> {
    requests: crossbeam_channel::Sender<T>,
    answers: crossbeam_channel::Receiver<T>,
}

impl<T: Payload> Channels<T> {
    fn start() -> Self {
        let (requests, received) = crossbeam_channel::unbounded::<T>();
        let (answer, answers) = crossbeam_channel::unbounded();
        thread::spawn(move || {
            for value in received {
                if answer.send(value.clone()).is_err() {
                    return;
                }
            }
        });
        Self { requests, answers }
    }
}

impl<T: Payload> Echo<T> for Channels<T> {
    type Answer = ();

    fn call(&mut self, value: T) {
        self.requests.send(value).expect("the worker is there");
    }

    async fn answer(&mut self, (): ()) -> T {
        self.answers.recv().expect("an answer")
    }
}

/// More than any batch.
const SLOTS: usize = 128;

#[repr(align(128))]
struct Padded<T>(T);

/// Single producer, single consumer: the producer stores a slot, then the tail with release; the consumer
/// loads the tail with acquire, then the slot. No batch fills it, so there is no head to wait for.
struct Ring {
    tail: Padded<AtomicUsize>,
    slots: [AtomicU64; SLOTS],
}

impl Ring {
    fn new() -> Self {
        Self { tail: Padded(AtomicUsize::new(0)), slots: [const { AtomicU64::new(0) }; SLOTS] }
    }

    fn push(&self, position: usize, value: f64) {
        self.slots[position % SLOTS].store(value.to_bits(), Ordering::Relaxed);
        self.tail.0.store(position + 1, Ordering::Release);
    }

    /// Below the tail only: elsewhere it is an older value.
    fn get(&self, position: usize) -> Option<f64> {
        let is_there = self.tail.0.load(Ordering::Acquire) > position;
        is_there.then(|| f64::from_bits(self.slots[position % SLOTS].load(Ordering::Relaxed)))
    }
}

struct Pair {
    requests: Ring,
    answers: Ring,
    is_over: Padded<AtomicBool>,
}

/// The physical floor: two threads that never sleep hand each other numbers through two rings in shared memory.
/// One core each, one cache line for each counter, nothing allocated.
struct Spinning {
    pair: Arc<Pair>,
    called: usize,
    answered: usize,
}

impl Spinning {
    fn start() -> Self {
        let (requests, answers) = (Ring::new(), Ring::new());
        let pair = Arc::new(Pair { requests, answers, is_over: Padded(AtomicBool::new(false)) });
        let served = Arc::clone(&pair);
        thread::spawn(move || {
            let mut position = 0;
            while !served.is_over.0.load(Ordering::Relaxed) {
                if let Some(value) = served.requests.get(position) {
                    served.answers.push(position, value);
                    position += 1;
                } else {
                    spin_loop();
                }
            }
        });
        Self { pair, called: 0, answered: 0 }
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.pair.is_over.0.store(true, Ordering::Relaxed);
    }
}

impl Echo<f64> for Spinning {
    type Answer = ();

    fn call(&mut self, value: f64) {
        self.pair.requests.push(self.called, value);
        self.called += 1;
    }

    async fn answer(&mut self, (): ()) -> f64 {
        loop {
            if let Some(value) = self.pair.answers.get(self.answered) {
                self.answered += 1;
                return value;
            }
            spin_loop();
        }
    }
}

struct Caller<'a, T, E> {
    echo: E,
    values: &'a [T],
    next: usize,
}

impl<T: Payload, E: Echo<T>> Caller<'_, T, E> {
    fn call(&mut self) -> E::Answer {
        let value = self.values[self.next % self.values.len()].clone();
        self.next += 1;
        self.echo.call(value)
    }

    /// One sample.
    async fn run(&mut self, shape: Shape) {
        if shape.batch == 1 {
            for _ in 0..shape.sequential {
                let answer = self.call();
                self.echo.answer(answer).await;
            }
            return;
        }
        let answers: Vec<_> = (0..shape.batch).map(|_| self.call()).collect();
        for answer in answers {
            self.echo.answer(answer).await;
        }
    }

    /// An untimed batch whose answers are compared with what was sent.
    async fn check(&mut self, batch: usize) {
        let first = self.next;
        let answers: Vec<_> = (0..batch).map(|_| self.call()).collect();
        for (n, answer) in answers.into_iter().enumerate() {
            let value = self.echo.answer(answer).await;
            assert_eq!(value, self.values[(first + n) % self.values.len()]);
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

pub async fn latency(figures: &mut Figures, batches: &[usize], sequential: usize) {
    let values = payloads::numbers();
    let mut caller = Caller { echo: Task::start(), values: &values, next: 0 };
    for &batch in batches {
        let samples = caller.measure(Shape { batch, sequential }, figures.budget).await;
        figures.add_latency("f64 echo", batch, samples);
    }
}

async fn add<T: Payload>(
    figures: &mut Figures,
    kind: &str,
    size: usize,
    values: &[T],
    echo: impl Echo<T>,
) {
    let mut caller = Caller { echo, values, next: 0 };
    for batch in BATCHES {
        let shape = Shape { batch, sequential: payloads::sequential(size) };
        let samples = caller.measure(shape, figures.budget).await;
        figures.add(kind, size, batch, samples);
    }
}

pub async fn tokio(figures: &mut Figures) {
    add(figures, "f64", F64_BYTES, &payloads::numbers(), Task::start()).await;
    for size in SIZES {
        add(figures, "string", size, &payloads::texts(size), Task::start()).await;
    }
    for size in SIZES {
        add(figures, "bytes", size, &payloads::bytes(size), Task::start()).await;
    }
}

pub async fn crossbeam(figures: &mut Figures) {
    add(figures, "f64", F64_BYTES, &payloads::numbers(), Channels::start()).await;
    for size in SIZES {
        add(figures, "string", size, &payloads::texts(size), Channels::start()).await;
    }
    for size in SIZES {
        add(figures, "bytes", size, &payloads::bytes(size), Channels::start()).await;
    }
}

pub async fn spinning(figures: &mut Figures) {
    add(figures, "f64", F64_BYTES, &payloads::numbers(), Spinning::start()).await;
}

pub async fn shared(figures: &mut Figures) {
    for size in SIZES {
        let values: Vec<_> = payloads::bytes(size).into_iter().map(Arc::new).collect();
        add(figures, "bytes", size, &values, Task::start()).await;
    }
}
