/** The slots to which the keys of calls are hashed (`pinned-calls.ts`). */

/** Number of slots. More keys than this share slots, and so workers. */
export const KEY_SLOTS = 1024;

/** The slot of a key (FNV-1a, Fowler, Noll and Vo). A number and its text are different keys. */
export function slotOf(key: string | number): number {
  const text = `${typeof key}${key}`;
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash ^ (hash >>> 16)) & (KEY_SLOTS - 1);
}
