import workerpool from "workerpool";
import { echo } from "./tasks.ts";

workerpool.worker({ echo });
