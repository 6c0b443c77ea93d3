/** What a thread waits for. */
export interface Condition {
  /** Makes sure that those who change the object wake this thread, then looks. True: the wait is over. */
  look(): boolean;
  /** The wait is over, in whichever way: takes back what it has left in the object. */
  leave?(): void;
}
