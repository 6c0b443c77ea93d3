import { expose } from "comlink";
import * as tasks from "./tasks.ts";

expose({ ...tasks });
