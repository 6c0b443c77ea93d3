import { ThreadWorker } from "poolifier";

export default new ThreadWorker((value) => value);
