//! A thread that blocks on a crossbeam channel, and one that blocks on the channel of its answers. Values are
//! cloned both ways, as by Tokio.

use crate::payloads::{self, BATCHES, F64_BYTES, SIZES};
use crate::sampling::{Budget, Clock, Figures, Shape};
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::fmt::Debug;
use std::thread;
use std::time::Instant;

pub const NAME: &str = "crossbeam-channel";

struct Echo<T> {
    requests: Sender<T>,
    answers: Receiver<T>,
    values: Vec<T>,
    next: usize,
}

impl<T: Clone + Debug + PartialEq + Send + 'static> Echo<T> {
    /// The thread ends with the channel.
    fn start(values: &[T]) -> Self {
        let (requests, received) = unbounded::<T>();
        let (answer, answers) = unbounded();
        thread::spawn(move || {
            for value in received {
                if answer.send(value.clone()).is_err() {
                    return;
                }
            }
        });
        Self { requests, answers, values: values.to_vec(), next: 0 }
    }

    fn send(&mut self) {
        let value = self.values[self.next % self.values.len()].clone();
        self.next += 1;
        self.requests.send(value).expect("the worker is there");
    }

    fn receive(&self) -> T {
        self.answers.recv().expect("an answer")
    }

    /// One sample.
    fn run(&mut self, shape: Shape) {
        if shape.batch == 1 {
            for _ in 0..shape.sequential {
                self.send();
                self.receive();
            }
            return;
        }
        for _ in 0..shape.batch {
            self.send();
        }
        for _ in 0..shape.batch {
            self.receive();
        }
    }

    /// An untimed batch whose answers are compared with what was sent.
    fn check(&mut self, batch: usize) {
        let first = self.next;
        for _ in 0..batch {
            self.send();
        }
        for n in 0..batch {
            assert_eq!(self.receive(), self.values[(first + n) % self.values.len()]);
        }
    }

    fn sample(&mut self, shape: Shape, budget: Budget) -> Vec<f64> {
        let mut samples = Vec::new();
        let mut clock = Clock::start(budget);
        while clock.goes_on() {
            let start = Instant::now();
            self.run(shape);
            samples.push(shape.micros(start.elapsed()));
        }
        samples
    }
}

fn add<T>(figures: &mut Figures, kind: &str, size: usize, values: &[T])
where
    T: Clone + Debug + PartialEq + Send + 'static,
{
    let mut echo = Echo::start(values);
    for batch in BATCHES {
        let shape = Shape { batch, sequential: payloads::sequential(size) };
        echo.check(batch);
        echo.sample(shape, figures.budget.warm_up());
        let samples = echo.sample(shape, figures.budget);
        echo.check(batch);
        figures.add(kind, size, batch, samples);
    }
}

pub fn copies(figures: &mut Figures) {
    add(figures, "f64", F64_BYTES, &payloads::numbers());
    for size in SIZES {
        add(figures, "string", size, &payloads::texts(size));
    }
    for size in SIZES {
        add(figures, "bytes", size, &payloads::bytes(size));
    }
}
