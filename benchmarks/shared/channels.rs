// Channels (std::sync::mpsc is crossbeam's since 1.67) and mutexes of Rust, for `npm run bench:shared`: prints name and nanoseconds of each
// operation.
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

fn channel(count: u32) -> f64 {
    let (sender, receiver) = sync_channel::<f64>(1024);
    let sending = thread::spawn(move || {
        for _ in 0..count {
            sender.send(1.5).unwrap();
        }
    });
    receiver.recv().unwrap();
    let start = Instant::now();
    for _ in 1..count {
        receiver.recv().unwrap();
    }
    let nanos = start.elapsed().as_nanos() as f64;
    sending.join().unwrap();
    nanos / f64::from(count - 1)
}

fn mutex(threads: u32, count: u32) -> f64 {
    let lock = Arc::new(Mutex::new(0u64));
    let start = Instant::now();
    let all: Vec<_> = (0..threads)
        .map(|_| {
            let lock = Arc::clone(&lock);
            thread::spawn(move || {
                for _ in 0..count {
                    *lock.lock().unwrap() += 1;
                }
            })
        })
        .collect();
    for each in all {
        each.join().unwrap();
    }
    start.elapsed().as_nanos() as f64 / f64::from(threads * count)
}

fn main() {
    println!("Rust: sync_channel, a number\t{}", channel(1_000_000));
    println!("Rust: mutex, uncontended\t{}", mutex(1, 5_000_000));
    println!("Rust: mutex, two threads\t{}", mutex(2, 2_000_000));
}
