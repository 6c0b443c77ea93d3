// Sorts N random floats and prints a checksum that depends on their order: sort N.
const n = Number(process.argv[2]);
const values = new Float64Array(n);
let seed = 42;
for (let i = 0; i < n; i++) {
  seed = seed * 48271 % 2147483647;
  values[i] = seed / 2147483647;
}
values.sort();
let checksum = 0;
for (let i = 0; i < n; i++) checksum += (i + 1) * Math.floor(values[i] * 1000000);
console.log(checksum);
