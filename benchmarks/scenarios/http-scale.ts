/** How much load `http` makes: for two cores that servers and loads share. */
import type { Gets } from "../http/load/gets.ts";
import type { Mixed } from "../http/load/mixed.ts";
import type { Saturation } from "../http/load/saturate.ts";
import type { ShortTasks } from "../http/load/short-tasks.ts";
import type { Websockets } from "../http/load/websockets.ts";
import { type Body, JSON_BODY, TEXT } from "./http-cases.ts";

export interface Scale {
  readonly saturation: Omit<Saturation, "url">;
  readonly gets: Omit<Gets, "url" | "body">;
  readonly websockets: Omit<Websockets, "url">;
  readonly shortTasks: Omit<ShortTasks, "url">;
  readonly closedLoop: Omit<Mixed, "url">;
  /** Connections are opened as they are needed, up to this many. */
  readonly openLoop: Omit<Mixed, "url" | "rate">;
  readonly bodies: readonly Body[];
}

const FULL: Scale = {
  saturation: { connections: 100, threads: 2, seconds: 5 },
  gets: { connections: 4, count: 5000 },
  websockets: { connections: 1000, seconds: 3 },
  shortTasks: { connections: 20, seconds: 3, warmUpSeconds: 0.5 },
  closedLoop: { connections: 16, seconds: 4, warmUpSeconds: 0.5 },
  openLoop: { connections: 512, seconds: 4, warmUpSeconds: 0.5 },
  bodies: [TEXT, JSON_BODY],
};

const QUICK: Scale = {
  // wrk takes whole seconds.
  saturation: { connections: 10, threads: 1, seconds: 1 },
  gets: { connections: 4, count: 200 },
  websockets: { connections: 50, seconds: 0.3 },
  shortTasks: { connections: 20, seconds: 0.5, warmUpSeconds: 0.3 },
  closedLoop: { connections: 8, seconds: 0.3, warmUpSeconds: 0.2 },
  openLoop: { connections: 512, seconds: 0.3, warmUpSeconds: 0.2 },
  bodies: [TEXT],
};

export const scaleOf = (isQuick: boolean): Scale => isQuick ? QUICK : FULL;
