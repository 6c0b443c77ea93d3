// The n-th Fibonacci number by two recursive calls: fib-recursive N.
function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

console.log(fib(Number(process.argv[2])));
