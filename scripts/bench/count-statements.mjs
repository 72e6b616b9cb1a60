/**
 * Preload module of a server that counts its statements and measures its memory and its blocking of the event
 * loop, and reports the figures to the parent process on request.
 */
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers';

import { parseDocument } from 'yaml';

const TRANSACTION = /^(?:BEGIN|COMMIT|ROLLBACK)\b/;
let statements = 0;

const databasePort = Number(new URL(process.env.DATABASE_URL ?? 'postgresql://').port || 5432);

/**
 * Returns true for a message that runs a statement: `Execute` or `Query` of PostgreSQL's protocol. The driver
 * writes each message separately.
 *
 * @param {unknown} message
 */
function runsStatement(message) {
  if (!Buffer.isBuffer(message)) return false;
  const kind = String.fromCodePoint(message[0] ?? 0);
  return kind === 'E' || (kind === 'Q' && !TRANSACTION.test(message.toString('latin1', 5, 20)));
}

// The driver is part of the bundle of the product, so that only its socket is known here.
const { write } = Socket.prototype;
/** @type {(this: Socket, ...args: any[]) => boolean} */
function counted(...args) {
  if (this.remotePort === databasePort && runsStatement(args[0])) statements += 1;
  return Reflect.apply(write, this, args);
}
Socket.prototype.write = counted;

/** Returns the processor time of this thread in milliseconds, which excludes other processes. */
function processorTime() {
  const [nanoseconds] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

let isWatching = false;
let longestTurn = 0;

/** Measures in every iteration of the event loop the time of the previous iteration. */
function watchTurns() {
  isWatching = true;
  longestTurn = 0;
  let before = processorTime();
  const measure = () => {
    const now = processorTime();
    longestTurn = Math.max(longestTurn, now - before);
    before = now;
    if (isWatching) setImmediate(measure);
  };
  setImmediate(measure);
}

/** Parses YAML on this thread. Returns the processor time in milliseconds. @param {string} text */
function yamlTime(text) {
  const before = processorTime();
  parseDocument(text);
  return processorTime() - before;
}

process.on('message', (message) => {
  if (typeof message === 'object' && message !== null && 'yaml' in message) {
    process.send?.({ yamlTime: yamlTime(String(message.yaml)) });
  }
  if (message === 'watch turns') watchTurns();
  if (message === 'longest turn') {
    isWatching = false;
    process.send?.({ longestTurn });
  }
  if (message === 'statements') process.send?.({ statements });
  if (message !== 'memory') return;
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ memory: heapUsed + external });
});
// The listener must not keep a stopped server alive.
process.channel?.unref();
