// Adds up i XOR j for all pairs below N: nested-loop N.
const n = Number(process.argv[2]);
let total = 0;
for (let i = 0; i < n; i++) {
  for (let j = 0; j < n; j++) total += i ^ j;
}
console.log(total);
