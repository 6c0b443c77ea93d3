import { runAsWorker } from "synckit";

runAsWorker((value: unknown) => Promise.resolve(value));
