/** OpenTelemetry, in the server and in its workers: spans go to the console. */
import {
  context,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  ConsoleSpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

context.setGlobalContextManager(new AsyncLocalStorageContextManager());
trace.setGlobalTracerProvider(
  new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(new ConsoleSpanExporter())] }),
);

export const tracer: Tracer = trace.getTracer("primes");

/** In the server, for each call: the span that it belongs to, as data that a thread can get. */
export function capture(): SpanContext | undefined {
  const span = trace.getSpanContext(context.active());
  return span && { traceId: span.traceId, spanId: span.spanId, traceFlags: span.traceFlags };
}

/** In a worker, for each call: a span around the task, below that of the caller. */
export function run(
  parent: SpanContext | undefined,
  task: () => unknown,
  { task: name }: { readonly task: string },
): unknown {
  const outer = parent === undefined
    ? ROOT_CONTEXT
    : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
  return tracer.startActiveSpan(`task ${name}`, {}, outer, async (span) => {
    try {
      return await task();
    } catch (error) {
      span.recordException(error as Error);
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
