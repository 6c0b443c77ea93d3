//! The physical floor: two threads that never sleep hand each other numbers through two rings in shared memory.
//! One core each, one cache line for each counter, nothing allocated.

use crate::payloads::{self, BATCHES, F64_BYTES};
use crate::sampling::{Budget, Clock, Figures, Shape};
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

pub const NAME: &str = "spinning pair";

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
    fn get(&self, position: usize) -> f64 {
        f64::from_bits(self.slots[position % SLOTS].load(Ordering::Relaxed))
    }

    fn has(&self, position: usize) -> bool {
        self.tail.0.load(Ordering::Acquire) > position
    }
}

struct Pair {
    requests: Ring,
    answers: Ring,
    is_over: Padded<AtomicBool>,
}

struct Caller {
    pair: Arc<Pair>,
    position: usize,
}

impl Caller {
    fn call_all(&mut self, values: &[f64], batch: usize) {
        for n in 0..batch {
            self.pair.requests.push(self.position + n, values[n % values.len()]);
        }
        for n in 0..batch {
            while !self.pair.answers.has(self.position + n) {
                spin_loop();
            }
            assert_eq!(self.pair.answers.get(self.position + n), values[n % values.len()]);
        }
        self.position += batch;
    }

    fn sample(&mut self, values: &[f64], shape: Shape, budget: Budget) -> Vec<f64> {
        let runs = if shape.batch == 1 { shape.sequential } else { 1 };
        let mut samples = Vec::new();
        let mut clock = Clock::start(budget);
        while clock.goes_on() {
            let start = Instant::now();
            for _ in 0..runs {
                self.call_all(values, shape.batch);
            }
            samples.push(shape.micros(start.elapsed()));
        }
        samples
    }
}

fn serve(pair: &Pair) {
    let mut position = 0;
    while !pair.is_over.0.load(Ordering::Relaxed) {
        if pair.requests.has(position) {
            pair.answers.push(position, pair.requests.get(position));
            position += 1;
        } else {
            spin_loop();
        }
    }
}

pub fn numbers(figures: &mut Figures) {
    let values = payloads::numbers();
    let pair = Arc::new(Pair {
        requests: Ring::new(),
        answers: Ring::new(),
        is_over: Padded(AtomicBool::new(false)),
    });
    let served = Arc::clone(&pair);
    let worker = thread::spawn(move || serve(&served));
    let mut caller = Caller { pair, position: 0 };
    for batch in BATCHES {
        let shape = Shape { batch, sequential: payloads::sequential(F64_BYTES) };
        caller.sample(&values, shape, figures.budget.warm_up());
        let samples = caller.sample(&values, shape, figures.budget);
        figures.add("f64", F64_BYTES, batch, samples);
    }
    caller.pair.is_over.0.store(true, Ordering::Relaxed);
    worker.join().expect("the other thread ends");
}
