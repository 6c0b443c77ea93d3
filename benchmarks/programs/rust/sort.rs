//! Sorts N random floats and prints a checksum that depends on their order: sort N.

fn main() {
    let n: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let mut values = vec![0.0; n];
    let mut seed: i64 = 42;
    for value in &mut values {
        seed = seed * 48271 % 2147483647;
        *value = seed as f64 / 2147483647.0;
    }
    values.sort_unstable_by(f64::total_cmp);
    let mut checksum = 0;
    for (i, value) in values.iter().enumerate() {
        checksum += (i as i64 + 1) * (value * 1000000.0) as i64;
    }
    println!("{checksum}");
}
