/**
 * The common base of all views of structs. Encoder and decoder depend only on this part; the code that creates views
 * (`views.ts`) is loaded only if a task declares some.
 */
import { ElementsView } from "./array-views.ts";
import type { Source } from "../../schema/input.ts";
import type { Plan } from "../compile.ts";
import type { StructShape } from "../../schema/shape.ts";

/** Base of all views of structs. Fields may hide its methods, so the library calls the functions below. */
export class RecordView {
  readonly #source: Source;
  readonly #at: number;
  readonly #shape: StructShape;
  readonly #plan: Plan;

  constructor(source: Source, at: number, shape: StructShape, plan: Plan) {
    this.#source = source;
    this.#at = at;
    this.#shape = shape;
    this.#plan = plan;
  }

  toObject(): unknown {
    return viewToObject(this);
  }

  revoke(): void {
    revokeView(this);
  }

  /** Checks a private slot, since a field may have any name. */
  static is(object: object): boolean {
    return #source in object;
  }

  /** The record, unless it has been revoked. */
  static open(view: RecordView): Source {
    return view.#source.open(view.#at + view.#shape.size);
  }

  static addressOf(view: RecordView): number {
    return view.#at;
  }

  static copy(view: RecordView): unknown {
    return view.#plan.read(RecordView.open(view), view.#at);
  }

  static revoke(view: RecordView): void {
    view.#source.revoke();
  }
}

/** Whether `object` is a view of a record or of a part of one. */
export function isStructView(object: object): boolean {
  return RecordView.is(object) || ElementsView.is(object);
}

/** Copies the contents of a view of a struct to a plain object. */
export function viewToObject(view: object): unknown {
  return RecordView.copy(view as RecordView);
}

/** Ends a view of a struct and all views of the same record. Further calls have no effect. */
export function revokeView(view: object): void {
  RecordView.revoke(view as RecordView);
}
