import type { AtomicCounter, SharedCache } from "heddle/shared";

/** A page from the cache. One worker renders a page that is not there; `update` lets the others wait for it. */
export async function page(
  path: string,
  pages: SharedCache<string, string>,
  rendered: AtomicCounter,
): Promise<string> {
  return pages.get(path) ?? await pages.update(path, (page) => page ?? render(path, rendered));
}

async function render(path: string, rendered: AtomicCounter): Promise<string> {
  rendered.add();
  await new Promise((resolve) => setTimeout(resolve, 5)); // in place of a query
  return `<h1>${path}</h1>`;
}
