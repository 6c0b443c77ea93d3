/**
 * What all views of structs have in common. Encoder and decoder need no more of structs than this, and the code that
 * makes views (`views.ts`) is loaded where a task declares some.
 */
import { ElementsView } from "./array-views.ts";
import type { Source } from "./input.ts";
import type { Plan } from "./interpret.ts";
import type { StructShape } from "./shape.ts";

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

  /** By slot: a field may be called anything. */
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

/** Whether `object` shows a record, or a part of one, in place. */
export function isStructView(object: object): boolean {
  return RecordView.is(object) || ElementsView.is(object);
}

/** A plain copy of what a view of a struct shows. */
export function viewToObject(view: object): unknown {
  return RecordView.copy(view as RecordView);
}

/** Ends a view of a struct and all views of the same record. Once is enough, twice does no harm. */
export function revokeView(view: object): void {
  RecordView.revoke(view as RecordView);
}
