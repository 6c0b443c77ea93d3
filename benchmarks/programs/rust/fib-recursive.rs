//! The n-th Fibonacci number by two recursive calls: fib-recursive N.

fn fib(n: i64) -> i64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

fn main() {
    let n = std::env::args().nth(1).unwrap().parse().unwrap();
    println!("{}", fib(n));
}
