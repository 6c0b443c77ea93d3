/** What every page does with its pool. Prints one line, which the test reads. */
export async function exercise(pool) {
  const report = [];
  try {
    const { call } = pool;
    report.push(await call.add(1, 2));
    report.push(pool.stats().transport);
    const all = await Promise.all(Array.from({ length: 500 }, (_, n) => call.add(n, 1)));
    report.push(all.reduce((sum, n) => sum + n));
    const value = { map: new Map([["ü€", [1n, -0]]]), bytes: new Uint8Array(2_000_000).fill(7) };
    const copy = await call.echo(value);
    report.push(copy.map.get("ü€")[0] === 1n && copy.bytes.length === 2_000_000);
    report.push(await (await call.echo(new Blob(["blob"]))).text());
    report.push(await call.fail().catch(({ name, cause }) => `${name} ${cause}`));
    report.push(await call.later.with({ timeoutMs: 50 })(10_000).catch(({ code }) => code));
    const controller = new AbortController();
    const aborted = call.signalled.with({ signal: controller.signal })();
    controller.abort("enough");
    report.push(await aborted.catch((reason) => reason));
    const items = [];
    for await (const item of call.count(3)) items.push(item);
    for await (const item of pool.map(call.add, [[1, 2], [3, 4]].map(([a]) => a))) items.push(item);
    report.push(items.length);
    await pool.shutdown();
    report.push("closed");
  } catch (error) {
    report.push(String(error?.stack ?? error));
  }
  const json = JSON.stringify(report);
  console.log(`RESULT ${json}`);
  // For a browser whose console the test does not see.
  if (location.search === "?post") await fetch("/result", { method: "POST", body: json });
}
