//! Adds up the n-th Fibonacci number, computed by a loop each time: fib-loop N TIMES.

fn fib(n: i64) -> i64 {
    let (mut a, mut b) = (0, 1);
    for _ in 0..n {
        (a, b) = (b, a + b);
    }
    a
}

fn main() {
    let args: Vec<i64> = std::env::args().skip(1).map(|text| text.parse().unwrap()).collect();
    let mut total = 0;
    for _ in 0..args[1] {
        total += fib(args[0]);
    }
    println!("{total}");
}
