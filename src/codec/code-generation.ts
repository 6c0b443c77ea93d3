/** Whether code may be made from strings here. */

let isAllowed: boolean | undefined;

/** Whether code may be made from strings here (not under a strict content security policy). */
export function canCompile(): boolean {
  if (isAllowed === undefined) {
    try {
      isAllowed = new Function("return true")() as boolean;
    } catch {
      isAllowed = false; // the question asked
    }
  }
  return isAllowed;
}
