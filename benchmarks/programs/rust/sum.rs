//! Adds up the integers from 0 up to, not including, N: sum N.

fn main() {
    let n: i64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut total = 0;
    for i in 0..n {
        total += i;
    }
    println!("{total}");
}
