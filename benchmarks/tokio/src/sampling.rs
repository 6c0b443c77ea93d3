//! Takes samples for as long as the budget says, and prints them.

use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
pub struct Budget {
    pub time: Duration,
    pub min_samples: usize,
}

impl Budget {
    /// Half as long, before what counts.
    pub fn warm_up(self) -> Self {
        Self { time: self.time / 2, ..self }
    }
}

/// Counts down a budget: `while clock.goes_on() { … }`.
pub struct Clock {
    end: Instant,
    left: usize,
}

impl Clock {
    pub fn start(budget: Budget) -> Self {
        Self { end: Instant::now() + budget.time, left: budget.min_samples }
    }

    pub fn goes_on(&mut self) -> bool {
        let goes_on = self.left > 0 || Instant::now() < self.end;
        self.left = self.left.saturating_sub(1);
        goes_on
    }
}

/// What a sample holds.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Calls at once.
    pub batch: usize,
    /// At batch 1: calls one after the other, by which the time is divided.
    pub sequential: usize,
}

impl Shape {
    pub fn micros(self, took: Duration) -> f64 {
        let divisor = if self.batch == 1 { self.sequential } else { 1 };
        took.as_secs_f64() * 1e6 / divisor as f64
    }
}

pub struct Figures {
    pub budget: Budget,
    lines: Vec<Value>,
}

impl Figures {
    pub const fn new(budget: Budget) -> Self {
        Self { budget, lines: Vec::new() }
    }

    /// A figure of `latency`: `size` is calls at once.
    pub fn add_latency(&mut self, case: &str, batch: usize, samples: Vec<f64>) {
        let count = samples.len();
        self.lines.push(json!({
            "case": case, "size": batch, "unit": "µs", "count": count, "samples": thin_out(samples),
        }));
    }

    /// A figure of `tokio`: `size` is bytes of a payload.
    pub fn add(&mut self, kind: &str, size: usize, batch: usize, samples: Vec<f64>) {
        let count = samples.len();
        let calls = if batch == 1 { "1 call".into() } else { format!("{batch} calls") };
        self.lines.push(json!({
            "case": format!("{kind}, {calls}"), "size": size, "calls": batch, "unit": "µs",
            "count": count, "samples": thin_out(samples),
        }));
    }

    /// A figure of `shared`: one sample, nanoseconds for each operation.
    pub fn add_operation(&mut self, case: &str, size: usize, took: Duration, count: u32) {
        let nanos = took.as_secs_f64() * 1e9 / f64::from(count);
        self.lines.push(json!({
            "case": case, "size": size, "unit": "ns", "count": 1, "samples": [nanos],
        }));
    }

    pub fn print(&self) {
        println!("{}", serde_json::to_string(&self.lines).expect("plain numbers"));
    }
}

/// Sorted, and evenly thinned out to a number that still gives every percentile reported.
fn thin_out(mut samples: Vec<f64>) -> Vec<f64> {
    samples.sort_by(f64::total_cmp);
    let step = (samples.len() as f64 / 2000.0).max(1.0);
    let kept = (samples.len() as f64 / step) as usize;
    (0..kept).map(|index| samples[(index as f64 * step) as usize]).collect()
}
