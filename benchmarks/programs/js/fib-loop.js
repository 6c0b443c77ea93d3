// Adds up the n-th numbers of Fibonacci sequences that begin with k and k + 1, for k = i AND 1023, by a loop each: fib-loop N TIMES.
function fib(k, n) {
  let a = k;
  let b = k + 1;
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
for (let i = 0; i < times; i++) total += fib(i & 1023, n);
console.log(total);
