/** Each worker has its own copy of these settings. */
let rates: Readonly<Record<string, number>> = {};

export function configure(newRates: Readonly<Record<string, number>>): number {
  rates = newRates;
  return Object.keys(rates).length;
}

export function convert(amount: number, currency: string): number {
  const rate = rates[currency];
  if (rate === undefined) throw new RangeError(`no rate for ${currency}`);
  return amount * rate;
}
