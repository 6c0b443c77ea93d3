//! Adds up i XOR j for all pairs below N: nested-loop N.

fn main() {
    let n: i64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut total = 0;
    for i in 0..n {
        for j in 0..n {
            total += i ^ j;
        }
    }
    println!("{total}");
}
