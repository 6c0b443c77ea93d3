/** Recognizes views of structs without the code that creates them, which sets the check with the first view. */

let check = (_object: object): boolean => false;

export function recognizeViews(isView: (object: object) => boolean): void {
  check = isView;
}

/** Whether `object` is a view of a record or of a part of one. */
export function isStructView(object: object): boolean {
  return check(object);
}
