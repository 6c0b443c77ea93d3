//! What is sent: the same shapes and sizes as on the JavaScript side (`benchmarks/scenarios/tokio.ts`).

/// Bytes of a payload.
pub const SIZES: [usize; 7] =
    [8, 64, 1 << 10, 16 << 10, 128 << 10, 512 << 10, 1 << 20];
/// Calls at once.
pub const BATCHES: [usize; 3] = [1, 10, 100];
pub const F64_BYTES: usize = 8;

/// Up to this size several calls one after the other make a sample: the clock is too coarse for one.
const MAX_COARSE_BYTES: usize = 16 << 10;
const SEQUENTIAL: usize = 100;
/// Different values that calls cycle through, and the memory they take at most.
const VARIANTS: usize = 64;
const MAX_VARIANT_BYTES: usize = 32 << 20;

/// Calls one after the other per sample at batch 1.
pub const fn sequential(size: usize) -> usize {
    if size <= MAX_COARSE_BYTES { SEQUENTIAL } else { 1 }
}

fn variants(size: usize) -> usize {
    (MAX_VARIANT_BYTES / size).clamp(2, VARIANTS)
}

pub fn numbers() -> Vec<f64> {
    (0..VARIANTS).map(|variant| variant as f64 + 0.5).collect()
}

pub fn texts(size: usize) -> Vec<String> {
    let text = |variant| (0..size).map(|at| char::from(97 + ((at + variant) % 26) as u8)).collect();
    (0..variants(size)).map(text).collect()
}

pub fn bytes(size: usize) -> Vec<Vec<u8>> {
    let bytes = |variant| (0..size).map(|at| (at * 7 + variant) as u8).collect();
    (0..variants(size)).map(bytes).collect()
}
