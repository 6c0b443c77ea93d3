/** The tasks of a module pool: unknown to the host until the first worker has loaded the module and describes them. */
import type { Signature } from "../../codec/declared.ts";
import { unpack } from "../../codec/codec.ts";
import { InvalidArgumentError, WorkerStartError } from "../../errors.ts";
import {
  runsByName,
  type TaskDeclaration,
  type TaskDescription,
  type TaskSource,
} from "../../protocol/start-data.ts";
import type { CodecAccess } from "../../runtimes/runtime.ts";
import { settingsOf } from "../options/call-options.ts";
import { type RebuildSignature, signatures } from "./feature.ts";
import type { HostTask, Uses } from "./pool-spec.ts";

/** Why the tasks cannot be used, if so. */
export type Learned = Error | undefined;

export class ModuleTasks {
  /** By index, empty until the tasks are known. The parts of the pool hold these lists. */
  readonly sources: TaskSource[] = [];
  readonly tasks: HostTask[] = [];
  readonly signatures: (Signature | undefined)[] = [];
  readonly moduleUrl: string;
  readonly #access: CodecAccess;
  readonly #uses: Uses | undefined;
  isKnown = false;

  constructor(moduleUrl: string, access: CodecAccess, uses?: Uses) {
    this.moduleUrl = moduleUrl;
    this.#access = access;
    this.#uses = uses;
  }

  /**
   * Learns the tasks from a worker's descriptions. Descriptions of further workers must agree: indices of tasks depend
   * on them. Returns the error if they do not, or if they are unusable; a promise if they declare structs.
   */
  learn(descriptions: readonly TaskDescription[]): Learned | Promise<Learned> {
    try {
      if (this.isKnown) return this.#compare(descriptions);
      let hasShapes = false;
      for (const { name, declares } of descriptions) {
        if (declares === undefined) continue;
        hasShapes = true;
        this.#uses?.need("structs", `the shape of the task ${name}`);
      }
      if (!hasShapes) return this.#add(descriptions);
      const { loadSignatures } = signatures;
      if (loadSignatures === undefined) {
        throw new InvalidArgumentError(
          "they declare shapes, and this heddle has no feature structs",
        );
      }
      return loadSignatures().then((rebuild) =>
        // Another worker may have been quicker.
        this.isKnown ? this.#compare(descriptions) : this.#add(descriptions, rebuild)
      ).catch((cause) => this.#unusable(cause));
    } catch (cause) {
      return this.#unusable(cause);
    }
  }

  #add(descriptions: readonly TaskDescription[], rebuild?: RebuildSignature): undefined {
    for (const description of descriptions) {
      const { name, hasSignal, isStream, declares, declared } = description;
      let settings: HostTask["settings"] = { hasSignal };
      if (hasSignal) this.#uses?.needForOptions({ abortSignal: true }, name);
      let signature: Signature | undefined;
      if (declared !== undefined) {
        const { options, args, returns } = unpack(this.#access, declared) as TaskDeclaration;
        if (options !== undefined) {
          this.#uses?.needForOptions(options, name);
          settings = { ...settingsOf(options), hasSignal };
        }
        if (declares !== undefined) signature = rebuild?.(args, returns);
      }
      this.sources.push({
        name,
        moduleUrl: this.moduleUrl,
        exportName: name,
        declares,
        hasSignal,
        isChecked: false, // the schema is in the module, which the host does not load
        declared: undefined,
        functionName: undefined,
      });
      this.tasks.push({
        settings,
        isStream,
        runsByName: runsByName(description),
        f: undefined,
        check: undefined,
      });
      this.signatures.push(signature);
    }
    // Of the variants: chunks have no declared types, tasks that send events have their own.
    this.signatures.push(...Array<undefined>(this.signatures.length), ...this.signatures);
    this.isKnown = true;
  }

  #unusable(cause: unknown): WorkerStartError {
    const { message } = cause as Error;
    return new WorkerStartError(`The tasks of ${this.moduleUrl} cannot be used: ${message}`, {
      cause,
    });
  }

  #compare(descriptions: readonly TaskDescription[]): Error | undefined {
    const words = (list: readonly Pick<TaskDescription, "name" | "declares">[]): string =>
      list.map(({ name, declares }) => `${name}(${declares ?? ""})`).join();
    if (words(descriptions) === words(this.sources)) return undefined;
    return new WorkerStartError(
      `${this.moduleUrl} has other tasks in this worker than in the first: it was changed meanwhile.`,
    );
  }
}
