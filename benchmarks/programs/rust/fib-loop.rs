//! Adds up the n-th numbers of Fibonacci sequences that begin with k and k + 1, for k = i AND 1023, by a loop each: fib-loop N TIMES.

fn fib(k: i64, n: i64) -> i64 {
    let (mut a, mut b) = (k, k + 1);
    for _ in 0..n {
        (a, b) = (b, a + b);
    }
    a
}

fn main() {
    let args: Vec<i64> = std::env::args().skip(1).map(|text| text.parse().unwrap()).collect();
    let mut total = 0;
    for i in 0..args[1] {
        total += fib(i & 1023, args[0]);
    }
    println!("{total}");
}
