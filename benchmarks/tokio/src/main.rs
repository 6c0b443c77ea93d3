//! The native bar for `latency` and `tokio`: values echoed by another thread; and channels and mutexes for `shared`. Prints the
//! figures of one round of one contender, in the shape the JavaScript processes print theirs (`RoundFigure` in
//! `benchmarks/harness/schema.ts`).

mod echo;
mod payloads;
mod sampling;
mod shared_objects;

use sampling::{Budget, Figures};
use std::error::Error;
use std::time::Duration;

/// Calls at once in `latency`.
const LATENCY_BATCHES: &[usize] = &[1, 10, 100, 1000];
/// Calls one after the other per sample at batch 1, as in the JavaScript scenario.
const LATENCY_SEQUENTIAL: usize = 500;

struct Options {
    scenario: String,
    contender: String,
    is_quick: bool,
}

fn read_options() -> Result<Options, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options {
        scenario: "latency".into(),
        contender: echo::TOKIO.into(),
        is_quick: false,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("scenario") => options.scenario = parser.value()?.string()?,
            Long("contender") => options.contender = parser.value()?.string()?,
            Long("quick") => options.is_quick = true,
            _ => return Err(argument.unexpected()),
        }
    }
    Ok(options)
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let Options { scenario, contender, is_quick } = read_options()?;
    let millis = match (scenario.as_str(), is_quick) {
        ("latency", false) => 350,
        ("latency", true) => 40,
        (_, false) => 200,
        (_, true) => 10,
    };
    let budget = Budget { time: Duration::from_millis(millis), min_samples: 20 };
    let mut figures = Figures::new(budget);
    // The caller is `main` itself, which no worker thread of the runtime runs: as a task it would share
    // the echo task's thread, and nothing would be handed from one thread to another.
    match (scenario.as_str(), contender.as_str()) {
        ("latency", echo::TOKIO) => {
            echo::latency(&mut figures, LATENCY_BATCHES, LATENCY_SEQUENTIAL).await;
        }
        ("tokio", echo::TOKIO) => echo::tokio(&mut figures).await,
        ("tokio", echo::SHARED) => echo::shared(&mut figures).await,
        ("tokio", echo::CROSSBEAM) => echo::crossbeam(&mut figures).await,
        ("tokio", echo::SPINNING) => echo::spinning(&mut figures).await,
        ("shared", shared_objects::STD) => shared_objects::of_std(&mut figures),
        ("shared", shared_objects::CROSSBEAM) => shared_objects::of_crossbeam(&mut figures),
        ("shared", shared_objects::TOKIO) => shared_objects::of_tokio(&mut figures).await,
        _ => return Err(format!("no contender {contender} in {scenario}").into()),
    }
    figures.print();
    Ok(())
}
