/** The processes of `http` and `http-soak`. */
import { isBuilt } from "../http/native-servers.ts";
import {
  CLUSTER,
  FASTIFY,
  GETS,
  GO,
  HEDDLE_WORKERS,
  HYPER,
  MIXED,
  ONE_THREAD,
  SHORT_TASK_CONTENDERS,
  SHORT_TASK_POOLS,
  SHORT_TASKS,
  SOAK_CONTENDER,
  WEBSOCKETS,
} from "../scenarios/http-cases.ts";
import type { Choices, Contender } from "./scenario.ts";

const process = (name: string, variant: string): Contender => ({
  name: `${name}, ${variant}`,
  variantOf: name,
  args: ["--contender", name, "--variant", variant],
});

/** Fresh processes that alternate round by round. */
const shortTasks = (names: readonly string[]): readonly Contender[] =>
  names.map((name) => ({
    ...process(name, SHORT_TASKS),
    ...(name === SHORT_TASK_POOLS.piscina ? { isPeer: true } : {}),
  }));

/** Of the servers in other languages, only plain text and JSON are measured. */
const nativeContenders = ({ isQuick }: Choices): readonly Contender[] =>
  (isQuick ? [GO] : [GO, HYPER]).map((name) => ({
    ...process(name, GETS),
    name,
    ...(isQuick && !isBuilt(name)
      ? { left: "not in a quick run: building it takes longer than the run" }
      : {}),
  }));

const { heddle, bareWorkers } = SHORT_TASK_POOLS;
const QUICK_POOLS = [heddle, bareWorkers] as const;

/** A quick run leaves out all that shows nothing new about the programs. */
function quickContenders(runtime: string): readonly Contender[] {
  const shared = [process(HEDDLE_WORKERS, GETS), process(HEDDLE_WORKERS, WEBSOCKETS)];
  const tasks = shortTasks(QUICK_POOLS);
  return runtime === "node" ? [...shared, process(MIXED, MIXED), ...tasks] : [...shared, ...tasks];
}

export function httpContenders(choices: Choices, runtime: string): readonly Contender[] {
  if (runtime === "native") return nativeContenders(choices);
  if (choices.isQuick && runtime !== "") return quickContenders(runtime);
  const servers = [ONE_THREAD, HEDDLE_WORKERS];
  const onNode = runtime === "node" || runtime === "" ? [CLUSTER, FASTIFY] : [];
  return [
    ...[...servers, ...onNode].map((name) => process(name, GETS)),
    ...servers.map((name) => process(name, WEBSOCKETS)),
    process(MIXED, MIXED),
    ...shortTasks(SHORT_TASK_CONTENDERS),
  ];
}

export const httpSoakContenders = ({ soakMinutes }: Choices): readonly Contender[] => [
  { name: SOAK_CONTENDER, args: ["--minutes", String(soakMinutes)] },
];
