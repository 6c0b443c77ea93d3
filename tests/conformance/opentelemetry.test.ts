/** The option `context` with OpenTelemetry's own SDK, as docs/observability.md shows it. */
import { trace } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { createPool } from "../../src/mod.ts";
import { capture } from "../fixtures/otel-run.ts";
import { closedAfterTest } from "../support/conformance.ts";

test("spans in workers are below the span of their caller, in its trace", async () => {
  const run = new URL("../fixtures/otel-run.ts", import.meta.url);
  const pool = closedAfterTest(
    createPool({ threads: 1, context: { capture, run } })<
      typeof import("../fixtures/otel-tasks.ts")
    >(new URL("../fixtures/otel-tasks.ts", import.meta.url)),
  );
  const tracer = trace.getTracer("host");
  const request = (name: string) =>
    tracer.startActiveSpan(name, async (span) => {
      const seen = await pool.call.work(3);
      span.end();
      return { ...span.spanContext(), seen };
    });
  // The calls run side by side in one worker.
  const callers = await Promise.all(["a", "b", "c"].map(request));
  const spans = await pool.call.spans();
  expect(new Set(callers.map(({ traceId }) => traceId)).size).toBe(3);
  for (const { traceId, spanId, seen } of callers) {
    expect(seen).toBe(traceId);
    const outer = spans.find((span) => span.parentId === spanId)!;
    expect(outer).toMatchObject({ name: "work", traceId });
    expect(spans.find((span) => span.parentId === outer.spanId)).toMatchObject({
      name: "inner",
      traceId,
    });
  }
});
