/** NATS reports a missing permission on the connection, some time after the message or the subscription that it refused. */
import { errors, type NatsConnection } from "@nats-io/transport-node";
import { NoMachinesError } from "../errors.ts";
import { allSubject, callSubject, type ResolvedCommon } from "./options.ts";

type Named = Pick<ResolvedCommon, "subject" | "inboxPrefix">;

/** What a caller or a machine cannot do without. */
const ownSubjects = ({ subject, inboxPrefix }: Named): readonly string[] => [
  callSubject(subject),
  allSubject(subject),
  `${subject}.machine.`,
  `${inboxPrefix}.`,
  "$SRV.",
];

/** Calls `onDenied` whenever NATS refuses one of heddle's subjects, with an error that names it. Ends with the connection. */
export async function watchPermissions(
  connection: NatsConnection,
  names: Named,
  onDenied: (error: NoMachinesError, operation: "publish" | "subscription") => void,
): Promise<void> {
  const own = ownSubjects(names);
  for await (const status of connection.status()) {
    if (status.type !== "error") continue;
    const { error } = status;
    if (!(error instanceof errors.PermissionViolationError)) continue;
    if (!own.some((start) => error.subject.startsWith(start))) continue;
    const { operation } = error;
    const action = operation === "publish" ? "publish" : "subscribe";
    const text = `NATS does not permit this connection to ${action} to "${error.subject}".`;
    onDenied(new NoMachinesError(text, { cause: error }), operation);
  }
}
