/**
 * Some ninety faults, one line of the sources each, and the tests that have to notice them. `npm run test:mutants` puts them in one
 * by one, and lists those that no test noticed.
 */

export interface Mutant {
  /** Path in `src`. */
  readonly file: string;
  /** A part of the file that occurs once in it, of one line if possible. */
  readonly from: string;
  readonly to: string;
  /** What breaks. */
  readonly fault: string;
}

/** A room: the tests that are run for its mutants, paths in `tests`. */
export interface Room {
  readonly tests: readonly string[];
  readonly mutants: readonly Mutant[];
}

const conformance = (...names: readonly string[]): string[] =>
  names.map((name) => `conformance/${name}.test.ts`);

const ring: Room = {
  tests: ["unit/ring", "order"],
  mutants: [
    {
      file: "ring/producer.ts",
      from: "const wanted = need <= room ? need : room + need;",
      to: "const wanted = need;",
      fault: "the padding before a wrapped record is not counted",
    },
    {
      file: "ring/producer.ts",
      from: "if (used < 0 || used > this.capacity) {",
      to: "if (used < 0) {",
      fault: "a damaged head is believed",
    },
    {
      file: "ring/producer.ts",
      from: "i32[(index >> 2) + 1] = (this.#sequence << 2) | QUEUED;",
      to: "i32[(index >> 2) + 1] = (this.#sequence << 2) | CLAIMED;",
      fault: "a record is published as if it was begun",
    },
    {
      file: "ring/producer.ts",
      from: "if ((queued & STATE_MASK) !== QUEUED) return false;",
      to: "",
      fault: "a record that was begun is revoked",
    },
    {
      file: "ring/producer.ts",
      from: "return position < this.#unwrapped(Atomics.load(this.#header, HEAD_POSITION));",
      to: "return position <= this.#unwrapped(Atomics.load(this.#header, HEAD_POSITION));",
      fault: "the next record counts as released",
    },
    {
      file: "ring/producer.ts",
      from: "if (used >= 0 && need <= index - used) {",
      to: "if (used >= 0) {",
      fault: "a rewind overwrites unread records",
    },
    {
      file: "ring/consumer.ts",
      from: "length >= RECORD_HEADER_BYTES && length <= available && length <= room",
      to: "length >= RECORD_HEADER_BYTES && length <= room",
      fault: "a record longer than what was published is read",
    },
    {
      file: "ring/consumer.ts",
      from: "if (seen === revokedState(queued)) return false;",
      to: "if (seen === revokedState(queued)) return true;",
      fault: "a revoked record runs",
    },
    {
      file: "ring/consumer.ts",
      from: "if (((this.#head - this.#publishedHead) | 0) < this.#publishBytes) return false;",
      to: "if (this.#publishBytes > 0) return false;",
      fault: "released space is never published",
    },
    {
      file: "ring/consumer.ts",
      from: "Atomics.load(this.#header, TAIL_POSITION) !== this.#head;",
      to: "false;",
      fault: "a new record is not seen",
    },
  ],
};

const parking: Room = {
  tests: ["unit/sync", "schedule", "unit/host/dispatch", ...conformance("parking", "fairness")],
  mutants: [
    {
      file: "sync/host-parking.ts",
      from: "this.#post(this.#message);",
      to: "",
      fault: "a parked host gets no wake",
    },
    {
      file: "sync/host-parking.ts",
      from:
        "if (Atomics.compareExchange(this.#words, this.#index, state, AWAKE) !== state) return;",
      to: "",
      fault: "a park gets two wakes",
    },
    {
      file: "sync/worker-parking.ts",
      from: "if (state === BLOCKED) Atomics.notify(this.#words, this.#index, 1);",
      to: "if (state === BLOCKED) {}",
      fault: "a blocked worker gets no wake",
    },
    {
      file: "sync/worker-parking.ts",
      from: "return !this.cancel(BLOCKED);",
      to: "return true;",
      fault: "a block that timed out leaves its announcement",
    },
    {
      file: "sync/space-flag.ts",
      from: "Atomics.compareExchange(this.#words, this.#index, 1, 0) === 1;",
      to: "true;",
      fault: "the wish for space is never withdrawn",
    },
    {
      file: "host/dispatch/poll-loop.ts",
      from:
        "if (lanes.hasResponse || (isDue && work.flush()) || (isCrowded && work.rebalance())) {",
      to: "if ((isDue && work.flush()) || (isCrowded && work.rebalance())) {",
      fault: "the host parks although a response has come",
    },
    {
      file: "worker/loop.ts",
      from: "if (replies.waiting > 0) replies.requestSpace();",
      to: "",
      fault: "a worker with a full response ring is not woken for room",
    },
    {
      file: "sync/spin.ts",
      from: "else if (nowMs >= endMs) break;",
      to: "",
      fault: "a spin has no end",
    },
    {
      file: "sync/spin.ts",
      from: "this.#skipped = 0;",
      to: "",
      fault: "a thread whose spins succeed again spins rarely",
    },
    {
      file: "sync/spin-in-turns.ts",
      from: "this.#left = this.#skipped = skipsAfter(this.#skipped);",
      to: "",
      fault: "a spin in turns that has failed is followed by another at once",
    },
    {
      file: "sync/spin-policy.ts",
      from: "this.#set(this.#random < 0);",
      to: "this.#set(!this.spins);",
      fault: "batches of calls that alternate with the blocks of a trial decide it",
    },
    {
      file: "sync/spin-policy.ts",
      from: "this.#set(this.#score > WORTH);\n  }",
      to: "}",
      fault: "a trial has no effect until the next look",
    },
    {
      file: "host/dispatch/poll-loop.ts",
      from: "const mustSpin = hint === SPIN && policy.spins && this.#active.hasFreeCore;",
      to: "const mustSpin = hint === SPIN && this.#active.hasFreeCore;",
      fault: "a host spins although that does not pay",
    },
    {
      file: "sync/awake-count.ts",
      from: "if (Atomics.add(words[word]!, 0, delta) < REMOVED_BELOW) return;",
      to: "Atomics.add(words[word]!, 0, delta);",
      fault: "a thread that is gone is counted",
    },
    {
      file: "sync/turn-clock.ts",
      from: "return nowMs - this.#startMs >= maxTurnMs;",
      to: "return false;",
      fault: "timers and I/O starve",
    },
  ],
};

const codec: Room = {
  tests: ["unit/codec", "unit/features/structs"],
  mutants: [
    {
      file: "codec/support/stack-overflow.ts",
      from: "error.message.startsWith(TOO_MUCH_RECURSION);",
      to: "false;",
      fault: "an exhausted stack of Firefox counts as damage",
    },
    {
      file: "codec/kinds/numbers.ts",
      from: "(integer !== 0 || 1 / value > 0)",
      to: "true",
      fault: "-0 arrives as 0",
    },
    {
      file: "codec/kinds/numbers.ts",
      from: "value.toString(16)",
      to: "(value < 0n ? -value : value).toString(16)",
      fault: "large bigints lose their sign",
    },
    {
      file: "codec/kinds/text.ts",
      from: "if (writer.access.text.writeUnits(text, u8, start) > 0xff)",
      to: "if (writer.access.text.writeUnits(text, u8, start) > 0xffff)",
      fault: "short texts beyond Latin-1 are cut to a byte",
    },
    {
      file: "codec/encoder.ts",
      from: "this.i32[offset >> 2]! |= REFERENCED;",
      to: "",
      fault: "an object that occurs twice cannot be found again",
    },
    {
      file: "codec/decoder.ts",
      from: "return this.noted(at, word, read(this, at, word));",
      to: "return read(this, at, word);",
      fault: "a rare value that occurs twice cannot be found again",
    },
    {
      file: "features/values/rare/wrapped/wrapped-values.ts",
      from: 'return brand === "borrow" ? writeBorrowed',
      to: "return true ? writeBorrowed",
      fault: "rare values claim the wrappers of other features",
    },
    {
      file: "codec/key-lists.ts",
      from:
        "if (keys.length > MAX_LISTED_KEYS || this.#keyLists.length >= MAX_KEY_LISTS) return undefined;",
      to: "if (keys.length > MAX_LISTED_KEYS) return undefined;",
      fault: "key lists are announced without limit",
    },
    {
      file: "codec/key-lists.ts",
      from: "if (key in Object.prototype) return undefined;",
      to: "",
      fault: "a deleted property is read from the prototype",
    },
    {
      file: "codec/key-lists.ts",
      from: "expected !== undefined && sameKeys(expected.keys, keys)",
      to: "expected !== undefined",
      fault: "an object is sent by the key list of another",
    },
  ],
};

const dispatch: Room = {
  tests: [
    "unit/host",
    "unit/features",
    ...conformance("priority", "affinity", "backpressure", "retries", "work-stealing"),
    ...conformance("worker-death", "scheduling", "timeout"),
  ],
  mutants: [
    {
      file: "host/dispatch/queue/waiting-calls.ts",
      from: "if (extra?.retryPayload === undefined || extra.retries >= extra.settings.retries) {",
      to: "if (extra?.retryPayload === undefined) {",
      fault: "a call is repeated without end",
    },
    {
      file: "host/dispatch/queue/waiting-calls.ts",
      from: "this.queue.putBackAll(unpinned);",
      to: "",
      fault: "calls that a lost worker has not begun are dropped",
    },
    {
      file: "host/dispatch/queue/waiting-calls.ts",
      from: "if (this.#size >= this.#idle) backpressure.admit(this.#size);",
      to: "",
      fault: "maxQueue is ignored",
    },
    {
      file: "host/dispatch/queue/call-queue.ts",
      from: "(level.rank === next.rank && level.priority > next.priority);",
      to: "(level.rank === next.rank && level.priority < next.priority);",
      fault: "of equal ranks the lower priority goes first",
    },
    {
      file: "host/dispatch/queue/call-queue.ts",
      from: "this.first -= calls.length;",
      to: "this.first -= calls.length - 1;",
      fault: "putting calls back overwrites one",
    },
    {
      file: "features/calls/queue/backpressure.ts",
      from: "if (!this.needsDrain || queued > this.#lowWaterMark) return;",
      to: "if (!this.needsDrain || queued > 0) return;",
      fault: "the event drain comes late",
    },
    {
      file: "features/calls/keys/pinned-calls.ts",
      from: "this.onOpened(); // those that waited for this lane to open get another",
      to: "",
      fault: "calls with a key wait for a worker that failed to start",
    },
    {
      file: "host/dispatch/queue/sender.ts",
      from: "if (bytes > 0 && !lane.credit.hasRoomFor(bytes)) return false;",
      to: "",
      fault: "large arguments pile up in a worker's port",
    },
    {
      file: "features/workers/stealing/work-stealing.ts",
      from:
        "const first = victim.load.hasLong || isStalled ? 0 : waiting.length - (waiting.length >> 1);",
      to: "const first = waiting.length;",
      fault: "nothing is stolen",
    },
    {
      file: "features/workers/stealing/work-stealing.ts",
      from:
        'return affinity === undefined || ("isNested" in affinity && !("workerId" in affinity));',
      to: "return affinity !== null;",
      fault: "calls with a key are stolen",
    },
    {
      file: "host/dispatch/responses.ts",
      from: "load.remove(orphan?.load ?? UNKNOWN_LOAD);",
      to: "",
      fault: "a worker never gets free of a call that was aborted",
    },
    {
      file: "host/dispatch/responses.ts",
      from: "if (index === EMPTY) break;\n      rx.verify(index);",
      to: "if (index === EMPTY) break;",
      fault: "a stale record is taken for a response",
    },
  ],
};

const limits: Room = {
  tests: [
    "unit/host/host.test.ts",
    "unit/features/limits",
    "unit/host/lanes",
    "unit/sync",
    ...conformance("first-uses", "abort", "timeout", "hard-timeout"),
  ],
  mutants: [
    {
      file: "runtimes/host.ts",
      from: "for (const { run } of due) run();",
      to: "",
      fault: "a host that blocks keeps no time limits",
    },
    {
      file: "host/calls/in-flight.ts",
      from: "this.position = UNKNOWN_POSITION;",
      to: "",
      fault: "a stream that nobody expected ends another call",
    },
    {
      file: "host/calls/in-flight.ts",
      from:
        "for (let part = parts.pop(); part !== undefined; part = parts.pop()) part.onOver?.(call);",
      to: "for (const part of parts) part.onOver?.(call);",
      fault: "a part of a call hears twice of its end",
    },
    {
      file: "features/calls/limits/host/cancellation.ts",
      from: "if (isNotified && lane !== undefined) postAbort(lane, slot, generation, reason);",
      to: "",
      fault: "a task is not told of its abort",
    },
    {
      file: "features/calls/limits/host/cancellation.ts",
      from: "raiseAbort(this.#epochs, slot, generation);",
      to: "",
      fault: "a task that blocks does not see its abort",
    },
    {
      file: "features/calls/limits/host/cancellation.ts",
      from: "this.timedOut++;",
      to: "",
      fault: "expired calls are not counted",
    },
    {
      file: "features/calls/limits/host/cancellation.ts",
      from: "lane.load.orphaned.add(slot, generation, { load, killAtMs, limitMs });",
      to: "",
      fault: "a task that goes on after its abort has no limit",
    },
    {
      file: "features/calls/limits/host/deadlines.ts",
      from: "if (runMs >= runTimeoutMs && runTimeoutMs <= hardTimeoutMs)",
      to: "if (runMs >= 4 * runTimeoutMs && runTimeoutMs <= hardTimeoutMs)",
      fault: "runTimeoutMs expires late",
    },
    {
      file: "features/calls/limits/host/deadlines.ts",
      from: "else if (waitMs >= timeoutMs)",
      to: "else if (hasBegun && waitMs >= timeoutMs)",
      fault: "a call that waits has no timeout",
    },
    {
      file: "features/calls/limits/host/deadlines.ts",
      from: "if (lane !== undefined) this.#host.supervisor.stopping!.stop(lane, error);",
      to: "",
      fault: "hardTimeoutMs stops no worker",
    },
    {
      file: "features/calls/limits/host/deadlines.ts",
      from: "if (!hasUnread || silentMs < limitMs) return false;",
      to: "if (!hasUnread || silentMs >= 0) return false;",
      fault: "a worker that takes no calls is never stopped",
    },
    {
      file: "features/calls/limits/abort-epochs.ts",
      from: "Atomics.store(words, slot, (generation + 1) | 0);",
      to: "Atomics.store(words, slot, generation);",
      fault: "an abort is noted for another call",
    },
    {
      file: "host/lanes/payload-credit.ts",
      from: "return this.#messages.length < MIN_MESSAGES || this.#bytes + bytes <= MAX_BYTES;",
      to: "return true;",
      fault: "messages to a worker have no limit",
    },
  ],
};

const streams: Room = {
  tests: ["unit/features/streams", "unit/worker"],
  mutants: [
    {
      file: "worker/replies.ts",
      from: "this.#endCall(reply);",
      to: "",
      fault: "items follow the error that has ended their stream",
    },
    {
      file: "worker/replies.ts",
      from: "if (reply.isOptional === true) {",
      to: "if (reply.isSubstitute === true) {",
      fault: "an event that the port refuses ends its call",
    },
    {
      file: "features/calls/streams/stream-consumer.ts",
      from: "if (this.#isCancelled || this.hasEnded || items.length === 0) return;",
      to: "if (items.length === 0) return;",
      fault: "items come after the end",
    },
    {
      file: "features/calls/streams/stream-consumer.ts",
      from: "2 * this.#takenItems >= this.highWaterMark ||",
      to: "this.#takenItems < 0 ||",
      fault: "a stream of small items gets no credit",
    },
    {
      file: "features/calls/streams/stream-consumer.ts",
      from: "if (!this.#isEndUnwanted) throw error;",
      to: "throw error;",
      fault: "a reader that breaks off gets an error of an item that it did not ask for",
    },
    {
      file: "features/calls/streams/stream-producer.ts",
      from: "isThrown ? this.#finish(true, error) : this.#finish(hasFailed, reason, hasFailed);",
      to: "isThrown ? this.#finish(true, error) : this.#finish(hasFailed, reason);",
      fault: "a reader that breaks off does not get the error of a finally block",
    },
    {
      file: "features/calls/streams/stream-consumer.ts",
      from: "this.#options.cancel();",
      to: "",
      fault: "the producer is not told that nobody reads",
    },
    {
      file: "features/calls/streams/stream-producer.ts",
      from:
        "return this.#items < highWaterMark && this.#bytes < MAX_UNREAD_BYTES && !writer.isFull;",
      to: "return this.#bytes < MAX_UNREAD_BYTES && !writer.isFull;",
      fault: "highWaterMark is ignored",
    },
    {
      file: "features/calls/streams/stream-producer.ts",
      from: "this.#items -= items;",
      to: "",
      fault: "credit does not come back",
    },
    {
      file: "features/calls/streams/stream-producer.ts",
      from: "if (this.#phase !== RUNNING) this.#options.run(() => this.#close(false, undefined));",
      to: "",
      fault: "a cancelled iterator is not closed",
    },
    {
      file: "features/calls/streams/stream-producer.ts",
      from: "if (this.#batchItems > 0) this.#startLater();",
      to: "",
      fault: "items wait for one that takes long",
    },
  ],
};

const nats: Room = {
  tests: ["unit/nats"],
  mutants: [
    {
      file: "nats/caller/liveness.ts",
      from: "if (machine.unanswered >= checks) this.#loseMachine(id, machine, now);",
      to: "if (machine.unanswered > checks) this.#loseMachine(id, machine, now);",
      fault: "a silent machine is lost late",
    },
    {
      file: "nats/caller/liveness.ts",
      from: "if (call?.machine !== id || ++call.timesMissing < TIMES_MISSING) continue;",
      to: "if (call?.machine !== id) continue;",
      fault: "a call is lost because its answer crossed with a question",
    },
    {
      file: "nats/wire/stream-receiver.ts",
      from: "if (isGap) throw new WorkerLostError(this.#options.loss());",
      to: "",
      fault: "a lost batch of a stream is not noticed",
    },
    {
      file: "nats/caller/liveness.ts",
      from: "if (isLate) return;",
      to: "",
      fault: "the time in which a caller was suspended counts as the silence of its machines",
    },
    {
      file: "nats/machine/machine.ts",
      from: "if (running.sender !== undefined) this.#announceStream(running);",
      to: "",
      fault: "a stream whose first messages are lost hangs",
    },
    {
      file: "nats/wire/transfers.ts",
      from: "else if (transfer.checked === transfer.next) transfer.grant(transfer.granted);",
      to: "",
      fault: "a lost part of a large message is noticed after a minute",
    },
    {
      file: "nats/options.ts",
      from: "subject.startsWith(`${prefix}.`);",
      to: "subject !== prefix;",
      fault: "a machine publishes wherever a caller says",
    },
    {
      file: "nats/durable/durable-worker.ts",
      from: "if (delivery.count === runs + 1) {",
      to: "if (delivery.count > runs) {",
      fault: "a call that kills its machines is delivered for ever",
    },
    {
      file: "nats/durable/durable-worker.ts",
      from: "if (delivery.count === runs + 1) {",
      to: "if (delivery.count === 0) {",
      fault: "a machine that was cut off loses its result",
    },
    {
      file: "nats/durable/durable-worker.ts",
      from: "    delivery.ack();\n    return true;",
      to: "    return true;",
      fault: "a call that has a result is delivered again",
    },
    {
      file: "nats/durable/durable-worker.ts",
      from: "else delivery.returnAfter(doubled(FIRST_PAUSE_MS, runs, MAX_PAUSE_MS));",
      to: "else delivery.returnAfter(FIRST_PAUSE_MS);",
      fault: "repeated runs do not back off",
    },
    {
      file: "nats/durable/durable-worker.ts",
      from: "    if (this.#held.has(key)) {",
      to: "    if (false) {",
      fault: "a call runs twice on the machine that has it",
    },
    {
      file: "nats/durable/durable-worker.ts",
      from: "        if (!isTemporary(error)) throw error;\n        await",
      to: "        throw error;\n        await",
      fault: "a result is given up when the server does not answer",
    },
    {
      file: "nats/durable/durable-worker.ts",
      from: "return Math.max(Date.now(), now + this.#serverAheadMs);",
      to: "return Date.now();",
      fault: "a clock that is behind delivers a delayed call all the time",
    },
    {
      file: "nats/durable/durable-worker.ts",
      from: "} else if (delivery.count > runs) await",
      to: "} else if (runs < 0) await",
      fault: "a call that ends its machine while it is decoded ends all machines",
    },
    {
      file: "nats/durable/durable-worker.ts",
      from: "    const { id } = delivery;\n    await",
      to: "    const id = undefined as string | undefined;\n    await",
      fault: "the caller of a call that cannot be read waits for ever",
    },
    {
      file: "nats/durable/call-queue.ts",
      from: "} else if (pull?.inbox === msg.subject) {",
      to: "} else if (pull !== undefined) {",
      fault: "the end of an earlier request ends the next one",
    },
    {
      file: "nats/durable/call-queue.ts",
      from: "else await this.#subscription.drain().catch(() => {}); // the connection is closed",
      to: "else this.#subscription.unsubscribe();",
      fault: "calls on their way to a machine that stops are lost to it",
    },
    {
      file: "nats/durable/request-line.ts",
      from: "if (this.#sent >= MAX_REQUESTS) {",
      to: "if (this.#sent < 0) {",
      fault: "requests fail because of their place in the line",
    },
  ],
};

const shared: Room = {
  tests: ["unit/shared", "schedule/shared.test.ts"],
  mutants: [
    {
      file: "shared/locks/gate.ts",
      from: "if (poisonous > 0 && permits >= poisonous) words[POISONED] = 1;",
      to: "",
      fault: "the death of a holder poisons nothing",
    },
    {
      file: "shared/locks/gate.ts",
      from: "|| this.#waiters.oldest() >= 0) return",
      to: ") return",
      fault: "newcomers overtake those who wait",
    },
    {
      file: "shared/threads/root.ts",
      from: "for (let index = this.high - 1; index >= 0; index--) this.wake(index);",
      to: "",
      fault: "a death wakes nobody",
    },
    {
      file: "shared/threads/root.ts",
      from: "if (above.every((each) => this.isEntitled(each))) return token;",
      to: "return token;",
      fault: "a worker of a stopped worker gets a token, and lives for ever",
    },
    {
      file: "shared/threads/root.ts",
      from: "this.end(token); // another thread has begun it, or it was stopped",
      to: "",
      fault: "a thread that gets its token twice lives twice",
    },
    {
      file: "shared/channel/ends.ts",
      from: "if (receivers === 0) Atomics.store(words, NO_RECEIVERS, 1);",
      to: "",
      fault: "senders never learn that nobody receives",
    },
    {
      file: "shared/channel/queue.ts",
      from: "if (isDamaged) this.#recount();",
      to: "",
      fault: "a death between two stores lets one value too many in",
    },
    {
      file: "shared/channel/queue.ts",
      from: "let state = ABANDONED;",
      to: "let state = WRITTEN;",
      fault: "a value whose copy failed is received in part",
    },
    {
      file: "shared/threads/root.ts",
      from: "Math.min(stepMs, FENCE_STEP_MS)",
      to: "stepMs",
      fault: "time in which the process is suspended counts",
    },
    {
      file: "shared/map/arena.ts",
      from: "if ((then & 1) === 0 || this.#root.visits(index) !== then) continue;",
      to: "continue;",
      fault: "memory is used again while a reader reads it",
    },
    {
      file: "shared/map/table.ts",
      from: "if (old === 0) Atomics.add(this.words, SIZE, 1);",
      to: "Atomics.add(this.words, SIZE, 1);",
      fault: "a replaced entry counts twice",
    },
    {
      file: "shared/map/entries.ts",
      from: "if (!this.hasVersion(key, version)) return false;",
      to: "",
      fault: "an update removes what another thread has set meanwhile",
    },
  ],
};

const scopes: Room = {
  tests: conformance("scopes", "scope-joiners"),
  mutants: [
    {
      file: "features/calls/scopes/scoped-call.ts",
      from: "if (!this.#isSettled || this.#calls.size > 0 || this.#lateRuns > 0) return;",
      to: "if (!this.#isSettled || this.#calls.size > 0) return;",
      fault: "leaving a scope does not wait for cancelled tasks",
    },
    {
      file: "host/dispatch/lane-phases.ts",
      from: "inFlight.lateRuns?.onGone(lane.id);",
      to: "",
      fault: "leaving a scope waits for tasks of workers that are gone",
    },
    {
      file: "features/calls/limits/host/deadlines.ts",
      from: "this.#cancellation.endStopped(call);",
      to: "",
      fault: "a stream that does not end keeps its scope open",
    },
    {
      file: "features/calls/scopes/joiners.ts",
      from: "for (const member of members) member.isJoined = true;",
      to: "",
      fault: "an error of a call that any() has taken cancels the scope",
    },
    {
      file: "features/calls/scopes/scoped-call.ts",
      from: "this.wasCancelled = true;",
      to: "",
      fault: "a cancellation counts as an error",
    },
  ],
};

/** By name. */
const workers: Room = {
  tests: [
    ...["workers", "lanes", "schedule", "dispatch"].map((part) => `unit/host/${part}`),
    ...["scaling", "stealing", "inline", "limits"].map((part) => `unit/features/${part}`),
    ...conformance("thread-budget", "unavailable-threads", "starving-pools"),
  ],
  mutants: [
    {
      file: "features/workers/scaling/host/pool-budget.ts",
      from: "reserved += Math.max(held, guaranteed);",
      to: "reserved += held;",
      fault: "threads that are guaranteed to a pool are lent to others",
    },
    {
      file: "features/workers/scaling/host/pool-budget.ts",
      from: "reserved += Math.max(pool.threadCount, pool.isClosing ? 0 : pool.size.minThreads);",
      to: "reserved += pool.threadCount;",
      fault: "threads that a pool of fixed size is about to start are lent to others",
    },
    {
      file: "host/workers/supervisor.ts",
      from: "if (this.isClosing || this.delayed > 0 || !this.mayStart) return;",
      to: "return;",
      fault:
        "a pool of fixed size that has lost its workers while it drains starts none for its calls",
    },
    {
      file: "features/workers/scaling/host/pool-budget.ts",
      from: "if (!isDue || isComing) return false;",
      to: "if (!isDue) return false;",
      fault: "busy workers are taken back at every look while one finishes its calls already",
    },
    {
      file: "features/workers/scaling/host/pool-budget.ts",
      from: "const others = this.#waiting.filter(({ held }) => held < asker.held);",
      to: "const others: BudgetShare[] = [];",
      fault: "a pool gets the thread that was just taken from it",
    },
    {
      file: "features/workers/scaling/host/autoscaler.ts",
      from: "if (calls.count > starting()) {",
      to: "if (calls.count > 0) {",
      fault: "one call that waits starts a second worker while the first one starts",
    },
    {
      file: "features/workers/scaling/host/pool-sizing.ts",
      from: "if (this.#usable === 0) {",
      to: "if (alive === 0) {",
      fault: "a pool whose workers wait for other calls with their threads waits for the budget",
    },
    {
      file: "features/workers/stealing/work-stealing.ts",
      from: "if (isLaneStuck || lane.load.hasLong) startable",
      to: "if (lane.load.hasLong) startable",
      fault: "a short call that waits alone behind a long one is not worth a worker",
    },
    {
      file: "features/workers/inline/host/unavailable-threads.ts",
      from: "if (threads > 0 && !isFirst) return true;",
      to: "",
      fault: "a pool is on the host while threads may still start",
    },
    {
      file: "host/workers/thread-lane.ts",
      from: "const neverBegan = wasStarting && !(Atomics.load(this.#control, LIFE) & BEGUN);",
      to: "const neverBegan = wasStarting;",
      fault: "a task module that exits runs on the host",
    },
    {
      file: "host/dispatch/lane-phases.ts",
      from: "if (isFirst && !(reason instanceof ProtocolError)) requeue(lane);",
      to: "",
      fault: "a worker begins further calls while it is stopped",
    },
    {
      file: "host/lanes/phase.ts",
      from: 'preparing: ["open", "draining", "closing", "gone"],',
      to: 'preparing: ["open", "suspended", "draining", "closing", "gone"],',
      fault: "a worker that waits for the host while it is prepared takes calls before it is",
    },
  ],
};

const requests: Room = {
  tests: ["unit/features/requests", "unit/lane/endpoint.test.ts"],
  mutants: [
    {
      file: "features/calls/requests/host/callers.ts",
      from: "if (at.call === call && !at.isOver()) return at;",
      to: "if (at.call === call) return at;",
      fault: "a blocked host seems to wait for the next call in the slot of its own",
    },
    {
      file: "features/calls/requests/host/callers.ts",
      from:
        "return caller.isSync && this.#isThreadAwaited(caller.lane, blocked, seen) ? SURELY : ofCall;",
      to: "return ofCall;",
      fault: "a worker that the host waits for waits for the host with its thread",
    },
    {
      file: "features/calls/requests/host/host-requests.ts",
      from: "} else if (certainty === MAYBE && checks >= MAX_IDLE_CHECKS) {",
      to: "} else if (certainty === MAYBE) {",
      fault: "a request that could wait is refused",
    },
    {
      file: "features/calls/requests/host/host-requests.ts",
      from: "const isBusy = lane.isAwake &&",
      to: "const isBusy = false &&",
      fault: "a request counts as stuck while its worker runs",
    },
    {
      file: "lane/payload-port.ts",
      from: "this.#notices.push(next.notice);",
      to: "",
      fault: "a notice that comes before a payload is lost",
    },
    {
      file: "lane/payload-port.ts",
      from: "else this.#notices.push(message);",
      to: "",
      fault: "a notice that comes before the answer of a request is lost",
    },
  ],
};

const early: Room = {
  tests: [...conformance("early-start"), "unit/host/dispatch/early-start.test.ts"],
  mutants: [
    {
      file: "protocol/start-data.ts",
      from: "return declared === undefined && !hasSignal && !isStream;",
      to: "return !hasSignal && !isStream;",
      fault: "a worker runs the first call although its task declares options",
    },
    {
      file: "worker/calls/run-task.ts",
      from: "one.name === name && runsByName(one as TaskDescription)",
      to: "one.name === name",
      fault: "a call runs by its name, and again as its task wants it",
    },
    {
      file: "host/dispatch/lane-phases.ts",
      from: "if (lanes.starting !== undefined) this.#parts.requeue(lanes.starting);",
      to: "",
      fault: "the first call waits for its worker while another one is ready",
    },
    {
      file: "host/dispatch/early-start.ts",
      from: "call.row = found.task + 1;",
      to: "",
      fault: "the first call counts for no task",
    },
    {
      file: "host/dispatch/early-start.ts",
      from: "starting.load.remove(call.load);",
      to: "",
      fault: "a call that its worker has left alone stays in its load",
    },
    {
      file: "host/dispatch/early-start.ts",
      from: "starting.load.sent > 0 || ",
      to: "",
      fault: "all calls go to the worker that starts first",
    },
    {
      file: "api/pool/pool-core.ts",
      from: "if (made.onPrepare !== undefined) this.dispatcher.waiting.early?.end();",
      to: "",
      fault: "the first call runs before what prepares its worker",
    },
  ],
};

const processes: Room = {
  tests: [
    ...conformance("process-workers"),
    "unit/features/processes",
    "unit/features/mirror",
  ],
  mutants: [
    {
      file: "features/workers/mirror/records.ts",
      from: "if (isSent && length > 0 && (state & STATE_MASK) === QUEUED) {",
      to: "if (isSent && length > 0) {",
      fault: "a call that was revoked and runs elsewhere is made again when its first process dies",
    },
    {
      file: "features/workers/mirror/records.ts",
      from: "if (((this.taken - noted) | 0) < 0 || (noted & 7) !== 0) return;",
      to: "",
      fault: "a note that cannot be is believed",
    },
    {
      file: "features/workers/mirror/records.ts",
      from: "free >= 0 &&",
      to: "",
      fault: "records of a process overwrite others",
    },
    {
      file: "features/workers/processes/worker/begun-consumer.ts",
      from: "if (isAcquired) this.onBegin((this.headPosition + this.end - index) | 0);",
      to: "",
      fault: "a process notes nothing, so a call that it had begun is made again",
    },
    {
      file: "host/workers/thread-lane.ts",
      from: "if (this.#handle.isBlank?.()) return this.#stop(CLOSE_TERMINATE_MS);",
      to: "",
      fault: "a pool that closes waits for processes that have not begun",
    },
    {
      file: "host/workers/thread-lane.ts",
      from: "this.mirror?.recover(this.#handle.begun?.());",
      to: "",
      fault: "calls that a process had not begun are lost with it",
    },
    {
      file: "features/workers/processes/frames.ts",
      from: "size > most || ",
      to: "",
      fault: "a frame of any size takes memory",
    },
    {
      file: "features/workers/processes/frames.ts",
      from: "total > words.length || ",
      to: "",
      fault: "a frame claims more words than it has",
    },
    {
      file: "host/workers/supervisor.ts",
      from: "if (isKilled && failures <= MAX_KILLED_STARTS) return false;",
      to: "",
      fault: "a process that is killed while it starts fails the pool",
    },
    {
      file: "codec/encoder.ts",
      from: "if (copiesOnly !== undefined) throw this.refuse(part, copiesOnly);",
      to: "",
      fault: "what cannot be copied is sent to a process",
    },
    {
      file: "runtimes/processes/child-processes.ts",
      from: "(output as Partial<Socket> | null)?.unref?.();",
      to: "",
      fault: "a process that was left behind keeps the host running",
    },
  ],
};

const caching: Room = {
  tests: [...conformance("compile-cache")],
  mutants: [
    {
      file: "features/workers/caching/worker.ts",
      from: "core.runtime.flushCompileCache?.()",
      to: "{}",
      fault: "a process that is killed leaves no compiled code",
    },
    {
      file: "runtimes/node/compile-cache.ts",
      from: "return dirname(ofVersion);",
      to: "return ofVersion;",
      fault: "workers make a folder in the folder of their host",
    },
    {
      file: "runtimes/node/compile-cache.ts",
      from: "...(env ?? process.env), ",
      to: "",
      fault: "workers lose their environment",
    },
  ],
};

const output: Room = {
  tests: conformance("process"),
  mutants: [
    {
      file: "runtimes/node/late-outputs.ts",
      from: "if (--left <= 0) Reflect.defineProperty(process, name, original);",
      to: "",
      fault: "code that watches the start of a thread gets a stub in the place of a stream",
    },
    {
      file: "runtimes/node/late-outputs.ts",
      from: "(stream === stub ? original.get!.call(process) : stream).write(chunk);",
      to: "",
      fault: "what a thread prints before heddle is lost",
    },
    {
      file: "runtimes/node-api/process/outputs.ts",
      from: "!/^getStd(?:out|err)$/.test(String(get?.name))",
      to: "true",
      fault: "a pool makes the streams of the process",
    },
    {
      file: "runtimes/node-api/process/outputs.ts",
      from: ': !Object.hasOwn(stream, "write");',
      to: ": true;",
      fault: "output goes round a write that the program has replaced",
    },
  ],
};

const objects: Room = {
  tests: [...conformance("objects", "objects-together")],
  mutants: [
    {
      file: "features/calls/objects/host/objects.ts",
      from: "if (object.calls > 0) await new Promise<void>((resolve) => object.onIdle = resolve);",
      to: "",
      fault: "an object is disposed of before its calls end",
    },
    {
      file: "features/calls/objects/host/objects.ts",
      from: "[object.remade ?? object.id,",
      to: "[object.id,",
      fault: "calls do not wait until their object is made again",
    },
    {
      file: "features/calls/objects/host/objects.ts",
      from: "if (error instanceof QueueFullError) {",
      to: "if (error === null) {",
      fault: "an object is not disposed of if the queue is full",
    },
    {
      file: "features/calls/objects/host/registry.ts",
      from: "object.lost ??= () => errorFor(object.className);",
      to: "",
      fault: "calls of a lost object are sent",
    },
    {
      file: "features/calls/objects/host/registry.ts",
      from: "if (lane !== undefined) lane.residents = this.#countOf(workerId);",
      to: "",
      fault: "a worker with objects is closed when it is idle",
    },
    {
      file: "features/calls/objects/host/restarts.ts",
      from: "times = times.filter((ms) => nowMs - ms < withinMs);",
      to: "times = [];",
      fault: "an object is made again for ever",
    },
    {
      file: "features/calls/objects/host/objects.ts",
      from: "if (methods.join() === again.join()) return;",
      to: "if (methods !== again) return;",
      fault: "an object with other methods takes the place of one",
    },
    {
      file: "features/calls/objects/worker/objects.ts",
      from:
        "if (resident.calls > 0) await new Promise<void>((resolve) => resident.onIdle = resolve);",
      to: "",
      fault: "an object is disposed of while objects of its worker call it",
    },
    {
      file: "features/calls/objects/worker/objects.ts",
      from: "await dispose(value).catch(() => {}); // it was never open",
      to: "",
      fault: "an object that could not be opened is not disposed of",
    },
    {
      file: "features/calls/keys/pinned-calls.ts",
      from: "return affinity.isNested === true ? FIRST_NESTED - workerId : workerId;",
      to: "return workerId;",
      fault: "calls between objects wait behind those that wait for them",
    },
    {
      file: "features/workers/stealing/work-stealing.ts",
      from:
        'return affinity === undefined || ("isNested" in affinity && !("workerId" in affinity));',
      to: 'return affinity === undefined || "isNested" in affinity;',
      fault: "calls between objects are stolen",
    },
    {
      file: "features/calls/requests/callback-value.ts",
      from: "encoder.seen.dropLast();",
      to: "",
      fault: "a handle that is an argument twice is damaged",
    },
    {
      file: "features/calls/requests/references.ts",
      from: "for (const references of this.#holders) references.delete(this.number);",
      to: "",
      fault: "a listener is called after its end",
    },
    {
      file: "features/calls/requests/worker/references.ts",
      from: "this.#known.set(number, new WeakRef(value));",
      to: "",
      fault: "a listener that arrives again is another function",
    },
  ],
};

export const rooms: Readonly<Record<string, Room>> = {
  ring,
  parking,
  codec,
  dispatch,
  limits,
  streams,
  nats,
  shared,
  scopes,
  workers,
  requests,
  early,
  processes,
  caching,
  output,
  objects,
};
