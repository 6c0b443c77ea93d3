import { nativeCommand } from "../http/native-servers.ts";
import { runHttp } from "../scenarios/http.ts";

await runHttp(nativeCommand);
