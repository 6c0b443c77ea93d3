//! Adds up i XOR (i >> 3) for the integers i from 0 up to, not including, N: sum N.

fn main() {
    let n: i64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut total = 0;
    for i in 0..n {
        total += i ^ (i >> 3);
    }
    println!("{total}");
}
