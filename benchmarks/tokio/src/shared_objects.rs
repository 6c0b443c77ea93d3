//! Channels and mutexes for the scenario `shared`: a sample of each figure, in nanoseconds for each operation. Names are those of
//! `benchmarks/scenarios/shared-cases.ts`.

use crate::sampling::Figures;
use std::sync::{Arc, Barrier, Mutex, mpsc::sync_channel};
use std::thread;
use std::time::{Duration, Instant};

pub const STD: &str = "Rust std";
pub const CROSSBEAM: &str = "crossbeam-channel";
pub const TOKIO: &str = "tokio mpsc";

const ALONE: &str = "channel, one thread";
const TO_THREAD: &str = "channel, thread to thread";
const MUTEX: &str = "mutex, lock and release";
const NUMBER_BYTES: usize = 8;

const CAPACITY: usize = 1024;
const ALONE_BATCH: u32 = 512;
const VALUES: u32 = 512 * 1000;
const VALUE: f64 = 1.5;
const LOCKS_ALONE: u32 = 2_000_000;
const LOCKS_BOTH: u32 = 2_000_000;

fn check(sum: f64) {
    assert_eq!(sum, VALUE * f64::from(VALUES), "a wrong sum");
}

/// One thread sends values and then receives them.
fn channel_alone(mut send: impl FnMut(f64), mut receive: impl FnMut() -> f64) -> Duration {
    let mut sum = 0.0;
    let start = Instant::now();
    for _ in 0..VALUES / ALONE_BATCH {
        for _ in 0..ALONE_BATCH {
            send(VALUE);
        }
        for _ in 0..ALONE_BATCH {
            sum += receive();
        }
    }
    let elapsed = start.elapsed();
    check(sum);
    elapsed
}

/// From a new thread to this one. The clock starts when the first value is there.
fn channel_to_thread(
    mut send: impl FnMut(f64) + Send + 'static,
    mut receive: impl FnMut() -> f64,
) -> Duration {
    let sending = thread::spawn(move || {
        for _ in 0..VALUES {
            send(VALUE);
        }
    });
    let mut sum = receive();
    let start = Instant::now();
    for _ in 1..VALUES {
        sum += receive();
    }
    let elapsed = start.elapsed();
    sending.join().expect("the sender ends");
    check(sum);
    elapsed
}

fn mutex(threads: u32, count: u32) -> Duration {
    let lock = Arc::new(Mutex::new(0u32));
    let barrier = Arc::new(Barrier::new(threads as usize));
    let all: Vec<_> = (0..threads)
        .map(|_| {
            let (lock, barrier) = (Arc::clone(&lock), Arc::clone(&barrier));
            thread::spawn(move || {
                barrier.wait();
                let start = Instant::now();
                for _ in 0..count {
                    *lock.lock().expect("no thread panics") += 1;
                }
                (start, Instant::now())
            })
        })
        .collect();
    let times: Vec<_> = all.into_iter().map(|each| each.join().expect("the thread ends")).collect();
    assert_eq!(*lock.lock().expect("no thread panics"), threads * count, "a wrong sum");
    let start = times.iter().map(|&(start, _)| start).min().expect("a thread");
    let end = times.iter().map(|&(_, end)| end).max().expect("a thread");
    end - start
}

pub fn of_std(figures: &mut Figures) {
    let (sender, receiver) = sync_channel::<f64>(CAPACITY);
    let alone = channel_alone(|value| sender.send(value).unwrap(), || receiver.recv().unwrap());
    figures.add_operation(ALONE, NUMBER_BYTES, alone, VALUES);
    let (sender, receiver) = sync_channel::<f64>(CAPACITY);
    let to_thread =
        channel_to_thread(move |value| sender.send(value).unwrap(), || receiver.recv().unwrap());
    figures.add_operation(TO_THREAD, NUMBER_BYTES, to_thread, VALUES);
    figures.add_operation(MUTEX, 1, mutex(1, LOCKS_ALONE), LOCKS_ALONE);
    figures.add_operation(MUTEX, 2, mutex(2, LOCKS_BOTH), 2 * LOCKS_BOTH);
}

pub fn of_crossbeam(figures: &mut Figures) {
    let (sender, receiver) = crossbeam_channel::bounded::<f64>(CAPACITY);
    let alone = channel_alone(|value| sender.send(value).unwrap(), || receiver.recv().unwrap());
    figures.add_operation(ALONE, NUMBER_BYTES, alone, VALUES);
    let (sender, receiver) = crossbeam_channel::bounded::<f64>(CAPACITY);
    let to_thread =
        channel_to_thread(move |value| sender.send(value).unwrap(), || receiver.recv().unwrap());
    figures.add_operation(TO_THREAD, NUMBER_BYTES, to_thread, VALUES);
}

/// This function runs in `main`, which no thread of the runtime runs: the task that sends has another thread.
pub async fn of_tokio(figures: &mut Figures) {
    let (sender, mut receiver) = tokio::sync::mpsc::channel::<f64>(CAPACITY);
    let mut sum = 0.0;
    let start = Instant::now();
    for _ in 0..VALUES / ALONE_BATCH {
        for _ in 0..ALONE_BATCH {
            sender.send(VALUE).await.unwrap();
        }
        for _ in 0..ALONE_BATCH {
            sum += receiver.recv().await.unwrap();
        }
    }
    figures.add_operation(ALONE, NUMBER_BYTES, start.elapsed(), VALUES);
    check(sum);

    let (sender, mut receiver) = tokio::sync::mpsc::channel::<f64>(CAPACITY);
    let sending = tokio::spawn(async move {
        for _ in 0..VALUES {
            sender.send(VALUE).await.unwrap();
        }
    });
    let mut sum = receiver.recv().await.unwrap();
    let start = Instant::now();
    for _ in 1..VALUES {
        sum += receiver.recv().await.unwrap();
    }
    figures.add_operation(TO_THREAD, NUMBER_BYTES, start.elapsed(), VALUES);
    sending.await.expect("the sender ends");
    check(sum);
}
