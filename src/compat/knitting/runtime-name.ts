/** The name of the runtime, from what every runtime offers: `navigator.userAgent`, such as "Node.js/26". */
import type { WorkerBootstrapContext } from "./types.ts";

export function runtimeName(): WorkerBootstrapContext["runtime"] {
  const { navigator } = globalThis as { navigator?: { readonly userAgent?: string } };
  const name = /^(node|deno|bun)\b/i.exec(navigator?.userAgent ?? "")?.[1]?.toLowerCase();
  return (name ?? "unknown") as WorkerBootstrapContext["runtime"];
}
