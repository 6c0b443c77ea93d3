// Adds up i XOR (i >> 3) for the integers i from 0 up to, not including, N: sum N.
const n = Number(process.argv[2]);
let total = 0;
for (let i = 0; i < n; i++) total += i ^ (i >> 3);
console.log(total);
