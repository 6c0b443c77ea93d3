/** A library of workers as a program meets it when it starts: what `startup` compares. */
export interface StartupPool {
  /** Calls a function that does nothing. */
  call(): Promise<unknown>;
  close(): Promise<unknown>;
}

export interface StartupLibrary {
  /** Resolves when the workers are ready for calls. */
  start(threads: number): Promise<StartupPool>;
}

export interface StartupContender {
  readonly name: string;
  /** Imports what a program imports. */
  load(): Promise<StartupLibrary>;
}
