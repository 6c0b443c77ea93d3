// Adds up the integers from 0 up to, not including, N: sum N.
const n = Number(process.argv[2]);
let total = 0;
for (let i = 0; i < n; i++) total += i;
console.log(total);
