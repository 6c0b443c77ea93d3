import { runHttp } from "../scenarios/http.ts";

await runHttp();
