/** The modules that call `task`, `importTask` and `createPool`, and the runtime that they run on. */
import { type CallPlace, callPlaceOf } from "heddle";
import type { AnyFunction, WorkerBootstrapContext } from "./types.ts";

let declaredUrl: string | undefined;

/** Names the calling module, for code whose stacks do not show it, such as some bundles. */
export function setModuleUrl(url: string | URL): void {
  declaredUrl = String(url);
}

/** Where `callee` was called, as far as anything tells. */
export function placeOf(callee: AnyFunction): CallPlace | undefined {
  const place = callPlaceOf(callee);
  if (place !== undefined) return place;
  return declaredUrl === undefined ? undefined : { module: declaredUrl, place: undefined };
}

const URL_SCHEME = /^[a-z][a-z0-9+.-]+:/i;

/** The URL of `href`, which may be relative to the module of `place`. */
export function urlOf(href: string, place: CallPlace | undefined): string {
  if (place === undefined) return href;
  const { module } = place;
  if (URL_SCHEME.test(module)) return new URL(href, module).href;
  const path = encodeURI(module.replaceAll("\\", "/")).replace(/[?#]/g, encodeURIComponent);
  return new URL(href, `file://${path.startsWith("/") ? "" : "/"}${path}`).href;
}

/** From what every runtime offers: `navigator.userAgent`, such as "Node.js/26". */
export function runtimeName(): WorkerBootstrapContext["runtime"] {
  const { navigator } = globalThis as { navigator?: { readonly userAgent?: string } };
  const name = /^(node|deno|bun)\b/i.exec(navigator?.userAgent ?? "")?.[1]?.toLowerCase();
  return (name ?? "unknown") as WorkerBootstrapContext["runtime"];
}
