/**
 * `http`: servers under load, each started anew for every figure (a cold run), in a process of its own. Loads come from
 * other processes: wrk, and the clients of `http/load`, which always run on Node.
 */
import { findLoadTool, saturate } from "../http/load/saturate.ts";
import type { Gets } from "../http/load/gets.ts";
import type { ShortTasks } from "../http/load/short-tasks.ts";
import type { Websockets } from "../http/load/websockets.ts";
import { runLoad } from "../http/load/run-load.ts";
import { countAnswering } from "../http/load/who.ts";
import { createJson, PATHS, TEXT as TEXT_BODY } from "../http/routes.ts";
import { serverCommand, withServer } from "../http/server-process.ts";
import * as kinds from "../http/servers/kinds.ts";
import { nativeCommand } from "../http/native-servers.ts";
import type { Platform } from "../launch.ts";
import { finish, readArguments } from "../harness/child.ts";
import * as http from "./http-cases.ts";
import { figuresFor, type Found } from "./http-figures.ts";
import { measureMixed } from "./http-mixed.ts";
import { scaleOf } from "./http-scale.ts";

const KINDS: Readonly<Record<string, string>> = {
  [http.ONE_THREAD]: kinds.ONE_THREAD,
  [http.HEDDLE_WORKERS]: kinds.LISTENING_WORKERS,
  [http.CLUSTER]: kinds.CLUSTER,
  [http.FASTIFY]: kinds.FASTIFY,
};

/** Several threads or processes answer. */
const SHARING: readonly string[] = [http.HEDDLE_WORKERS, http.CLUSTER];

/** Of every pool that runs short tasks. */
const POOL_THREADS = 2;

type Command = readonly string[];

/** What `http` runs on this runtime. */
const ownCommand = (contender: string): Command => serverCommand(KINDS[contender]!, {});

const PATH_OF: Readonly<Record<http.Body, string>> = {
  [http.TEXT]: PATHS.text,
  [http.JSON_BODY]: PATHS.json,
};
const BODY_OF: Readonly<Record<http.Body, string>> = {
  [http.TEXT]: TEXT_BODY,
  [http.JSON_BODY]: createJson(),
};

/** Fails if threads that share a port leave one of them to answer everything. */
async function checkSharing(command: Command): Promise<void> {
  const answering = await withServer(command, countAnswering);
  if (answering < 2) throw new Error(`${answering} of the threads answers all connections`);
}

async function measureGets(
  contender: string,
  commandOf: (contender: string) => Command,
  isQuick: boolean,
): Promise<Found[]> {
  const { saturation, gets, bodies } = scaleOf(isQuick);
  const tool = findLoadTool();
  const found: Found[] = [];
  for (const body of bodies) {
    const load = http.byTool(body, tool);
    found.push(
      ...await figuresFor({ contender, size: saturation.connections }, load, async () => {
        const command = commandOf(contender);
        if (SHARING.includes(contender)) await checkSharing(command);
        return await withServer(
          command,
          (url) => saturate(tool, { ...saturation, url: `${url}${PATH_OF[body]}` }),
        );
      }),
    );
  }
  for (const body of bodies) {
    found.push(
      ...await figuresFor(
        { contender, size: gets.connections },
        http.byGets(body),
        async () =>
          await withServer(commandOf(contender), (url) => {
            const options: Gets = { ...gets, url: `${url}${PATH_OF[body]}`, body: BODY_OF[body] };
            return runLoad("gets", options);
          }),
      ),
    );
  }
  return found;
}

function measureWebsockets(contender: string, isQuick: boolean): Promise<Found[]> {
  const { websockets } = scaleOf(isQuick);
  return figuresFor(
    { contender, size: websockets.connections },
    http.ECHO,
    () =>
      withServer(ownCommand(contender), (url) => {
        const options: Websockets = { ...websockets, url: url.replace("http:", "ws:") };
        return runLoad("websockets", options);
      }),
  );
}

function measureShortTasks(contender: string, isQuick: boolean): Promise<Found[]> {
  const { shortTasks } = scaleOf(isQuick);
  const command = serverCommand(kinds.SHORT_TASKS, { threads: POOL_THREADS, pool: contender });
  return figuresFor(
    { contender, size: shortTasks.connections },
    http.HASHES,
    () =>
      withServer(command, (url) => {
        const options: ShortTasks = { ...shortTasks, url };
        return runLoad("short-tasks", options);
      }),
  );
}

/** Runs what the command line names and prints its figures. */
export async function run({ name }: Platform): Promise<never> {
  const commandOf = name === "native" ? nativeCommand : ownCommand;
  const { contender, variant, isQuick } = readArguments();
  const found = variant === http.MIXED
    ? await measureMixed(isQuick)
    : variant === http.SHORT_TASKS
    ? await measureShortTasks(contender, isQuick)
    : variant === http.WEBSOCKETS
    ? await measureWebsockets(contender, isQuick)
    : await measureGets(contender, commandOf, isQuick);
  return finish(found);
}
