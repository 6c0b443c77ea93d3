/** Listens by the means of the runtime. */
import type { Listen } from "../routes.ts";

const name = "Deno" in globalThis ? "deno" : "Bun" in globalThis ? "bun" : "node";
const module = await import(`./listen-${name}.ts`) as { readonly listen: Listen };

export const listen: Listen = module.listen;
