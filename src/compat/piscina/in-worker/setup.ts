/** What each worker of a pool that has a function does first: it loads that. That the module has none is for its tasks to say. */
import { type HandlerPlace, loadHandler } from "./handlers.ts";

export default async function setUp(handler: HandlerPlace): Promise<void> {
  await loadHandler(handler);
}
