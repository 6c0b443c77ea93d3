// Adds up the n-th Fibonacci number, computed by a loop each time: fib-loop N TIMES.
function fib(n) {
  let a = 0;
  let b = 1;
  for (let i = 0; i < n; i++) {
    const next = a + b;
    a = b;
    b = next;
  }
  return a;
}

const n = Number(process.argv[2]);
const times = Number(process.argv[3]);
let total = 0;
for (let i = 0; i < times; i++) total += fib(n);
console.log(total);
