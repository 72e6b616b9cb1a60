/** Loaded before a server: counts what it sends to PostgreSQL and what it holds, and tells the parent who asks. */
import pg from 'pg';

const OPENING = /^(?:BEGIN|COMMIT|ROLLBACK)\b/;
let statements = 0;

const { query } = pg.Client.prototype;
/** @type {(this: pg.Client, ...args: any[]) => any} */
function counted(...args) {
  const [statement] = args;
  const text = typeof statement === 'string' ? statement : statement.text;
  if (typeof text === 'string' && !OPENING.test(text)) statements += 1;
  return Reflect.apply(query, this, args);
}
pg.Client.prototype.query = counted;

process.on('message', (message) => {
  if (message === 'statements') process.send?.({ statements });
  if (message !== 'memory') return;
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ memory: heapUsed + external });
});
// Listening must not keep a server alive that was told to stop.
process.channel?.unref();
