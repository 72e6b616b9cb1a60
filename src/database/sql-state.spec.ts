import { isTransient } from './sql-state.js';

const coded = (code: string): Error => Object.assign(new Error('x'), { code });

it.each([
  ['a deadlock', coded('40P01')],
  ['a lock that was not got', coded('55P03')],
  ['a server that is shutting down', coded('57P01')],
  ['too many connections', coded('53300')],
  ['a failed connection', coded('08006')],
  ['a server that is only a standby', coded('25006')],
  ['a refused connection', coded('ECONNREFUSED')],
  ['a broken pipe', coded('EPIPE')],
  ['a name that does not resolve now', coded('EAI_AGAIN')],
  ['a machine that is off', coded('EHOSTUNREACH')],
  ['a network that is down', coded('ENETUNREACH')],
  ['a lost connection', new Error('Connection terminated unexpectedly')],
  ['a connection that came too late', new Error('Connection terminated due to connection timeout')],
  ['an exhausted pool', new Error('timeout exceeded when trying to connect')],
  [
    'a client that broke',
    new Error('Client has encountered a connection error and is not queryable'),
  ],
  ['a client that was cut off', new Error('Client was closed and is not queryable')],
  ['a statement that was never answered', new Error('Query read timeout')],
  ['a closed pool', new Error('Cannot use a pool after calling end on the pool')],
])('%s is transient', (_case, error) => {
  expect(isTransient(error)).toBe(true);
});

it.each([
  ['a violated rule', coded('23505')],
  ['a value that cannot be used', coded('22P02')],
  ['a fault of a system call', coded('EACCES')],
  ['a text that only mentions a connection', new Error('The plugin said: Connection terminated')],
  ['another error', new TypeError('x is not a function')],
  ['no error', 'Connection terminated'],
  ['nothing', undefined],
])('%s is not transient', (_case, error) => {
  expect(isTransient(error)).toBe(false);
});
