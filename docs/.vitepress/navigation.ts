/** The pages of the site in the order of the sidebar. An entry whose file does not exist is left out. */
import { existsSync } from "node:fs";

interface Entry {
  readonly text: string;
  /** The Markdown file, relative to the root of the project; `generated` pages have none. */
  readonly file: string;
  readonly isGenerated?: boolean;
}

interface Section {
  readonly text: string;
  readonly entries: readonly Entry[];
}

const page = (text: string, file: string): Entry => ({ text, file: `docs/${file}` });

const SECTIONS: readonly Section[] = [
  {
    text: "Start",
    entries: [
      page("Quick start", "quick-start.md"),
      page("When workers pay", "when-workers-pay.md"),
      { text: "Examples", file: "examples/README.md" },
      page("FAQ", "faq.md"),
    ],
  },
  {
    text: "Guide",
    entries: [
      page("Tasks", "tasks.md"),
      page("TypeScript", "typescript.md"),
      page("Web servers", "web-servers.md"),
      page("Packaging", "packaging.md"),
      page("In the browser", "browser.md"),
      page("Payloads", "payloads.md"),
      page("Payloads: corner cases", "payload-corner-cases.md"),
      page("Streams and map", "streams.md"),
      page("Synchronous calls", "sync.md"),
      page("Scopes", "scopes.md"),
      page("Tasks that call", "nested-work.md"),
      page("Shared data", "shared.md"),
      page("How calls end", "reliability.md"),
      page("Worker life cycle", "worker-life-cycle.md"),
      page("Waiting and scheduling", "waiting.md"),
      page("Several pools", "thread-budget.md"),
      page("Permissions and limits", "permissions.md"),
      page("Performance", "performance.md"),
      page("Observability", "observability.md"),
      page("Testing and debugging", "testing.md"),
      page("NATS", "nats.md"),
    ],
  },
  {
    text: "Migrating",
    entries: [
      page("From other pools", "migrating.md"),
      page("From Knitting", "migrating-from-knitting.md"),
    ],
  },
  {
    text: "Reference",
    entries: [
      page("Options", "options.md"),
      page("Errors", "errors.md"),
      page("Runtimes", "runtimes.md"),
      { text: "API", file: "docs/api.md", isGenerated: true },
      { text: "Changes", file: "CHANGELOG.md" },
    ],
  },
  {
    text: "Benchmarks",
    entries: [
      page("Overview", "benchmarks/README.md"),
      page("Cold and sporadic calls", "benchmarks/cold-and-sporadic.md"),
      page("Node", "benchmarks/node.md"),
      page("Deno", "benchmarks/deno.md"),
      page("Bun", "benchmarks/bun.md"),
      page("Streams", "benchmarks/streams.md"),
      page("Web servers", "benchmarks/http.md"),
      page("Many tasks that wait", "benchmarks/concurrency.md"),
      page("Small programs", "benchmarks/programs.md"),
      page("Shared data", "benchmarks/shared.md"),
      page("In a browser", "benchmarks/browser.md"),
      page("More machines", "benchmarks/nats.md"),
      page("Tokio", "benchmarks/tokio.md"),
    ],
  },
  {
    text: "Internals",
    entries: [
      { text: "Architecture", file: "ARCHITECTURE.md" },
      { text: "Contributing", file: "CONTRIBUTING.md" },
      page("Protocols", "internals/README.md"),
      page("Ring", "internals/ring.md"),
      page("Parking", "internals/parking.md"),
      page("Waiting and spinning", "internals/waiting-and-spinning.md"),
      page("Scheduling", "internals/scheduling.md"),
      page("Revocation", "internals/revocation.md"),
      page("Cancellation", "internals/cancellation.md"),
      page("Encoding", "internals/encoding.md"),
      page("Payload port", "internals/payload-port.md"),
      page("Streams", "internals/streams.md"),
      page("Shared data", "internals/shared.md"),
      page("Starting a worker", "internals/starting-a-worker.md"),
      page("Browsers", "internals/browsers.md"),
      page("Recovery", "internals/recovery.md"),
      page("NATS", "internals/nats.md"),
      page("Runtime traps", "internals/runtime-traps.md"),
      page("Measured facts", "internals/measured-facts.md"),
    ],
  },
];

const root = new URL("../../", import.meta.url);

/** Markdown files of the project that are pages, by path from its root. */
export const PAGES: readonly string[] = SECTIONS.flatMap(({ entries }) => entries)
  .filter(({ file, isGenerated }) => isGenerated !== true && existsSync(new URL(file, root)))
  .map(({ file }) => file);

/** Where the site has a Markdown file of the project: without `docs/`, and `README` as `index`. */
export const pageOf = (file: string): string =>
  file.replace(/^docs\//, "").replace(/README\.md$/, "index.md").toLowerCase();

const linkOf = (file: string): string => `/${pageOf(file).replace(/(index)?\.md$/, "")}`;

export const SIDEBAR = SECTIONS.map(({ text, entries }) => ({
  text,
  collapsed: text === "Internals" || text === "Benchmarks",
  items: entries
    .filter(({ file, isGenerated }) => isGenerated === true || PAGES.includes(file))
    .map((entry) => ({ text: entry.text, link: linkOf(entry.file) })),
}));
