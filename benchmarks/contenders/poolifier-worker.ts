import { ThreadWorker } from "poolifier";

export default new ThreadWorker<unknown, unknown>((value) => value);
