/** Runs the scenario that the command line names. `node.ts`, `deno.ts`, `bun.ts`, `native.ts` and `browser.ts` say where. */
import process from "node:process";
import type { EchoContender } from "./contenders/types.ts";
import type { MessageCalls } from "./contenders/messages.ts";

/** What differs from runtime to runtime. */
export interface Platform {
  readonly name: string;
  /** What runs a module whose path follows. */
  readonly command: readonly string[];
  /** A websocket and HTTP over loopback. */
  readonly loopback: () => Promise<Readonly<Record<"websocket" | "http", EchoContender>>>;
  /** The kind of worker by hand that is best at messages. */
  readonly messages: "startThread" | "startWebWorker";
  /** Kinds of values that structured clone gets wrong, and why. */
  readonly cloneLacks?: Readonly<Record<string, string>>;
  /** Libraries that do not run, and why. */
  readonly unable?: Readonly<Record<string, string>>;
}

export const startMessages = async (platform: Platform): Promise<MessageCalls> =>
  await (await import("./contenders/messages.ts"))[platform.messages]();

export async function launch(platform: Platform): Promise<void> {
  const scenario = await import(`./scenarios/${process.argv[2]}.ts`) as {
    run(platform: Platform): Promise<unknown>;
  };
  await scenario.run(platform);
}
