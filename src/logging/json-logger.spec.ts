import { runInScope } from '../common/http/request-scope.js';
import { JsonLogger } from './json-logger.js';

const CANARY = 'canary-in-a-log-line';

/** Returns the lines, parsed, that a logger writes while `work` runs. */
function linesOf(work: (logger: JsonLogger) => void, least = 'info'): Record<string, unknown>[] {
  const written: string[] = [];
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  try {
    work(new JsonLogger(least));
  } finally {
    write.mockRestore();
  }
  return written.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('JsonLogger', () => {
  it('writes one JSON line for each event, including line breaks', () => {
    const [line, ...rest] = linesOf((logger) => logger.warn('two\nlines', 'Place'));
    expect(rest).toEqual([]);
    expect(line).toMatchObject({ level: 'warn', context: 'Place', message: 'two\nlines' });
  });

  it('contains the id of the request', () => {
    const lines = linesOf((logger) =>
      runInScope({ actor: null, requestId: 'r-1', sourceIp: '' }, () => logger.log('inside')),
    );
    expect(lines[0]).toMatchObject({ requestId: 'r-1' });
  });

  it('omits entries below its level', () => {
    expect(linesOf((logger) => logger.log('too small'), 'error')).toEqual([]);
  });

  it.each([
    'password',
    'ssh_key_passphrase',
    'client_secret',
    'token',
    'access_token',
    'Authorization',
    'cookie',
    'private_key',
    'webhook_key',
  ])('masks the value of %s at any depth', (key) => {
    const lines = linesOf((logger) => {
      logger.log({ [key]: CANARY });
      logger.error({ request: { headers: [{ [key]: CANARY }] } });
      logger.error({ [key]: [CANARY], request: { [key]: { value: CANARY } } });
    });
    expect(JSON.stringify(lines)).not.toContain(CANARY);
    expect(JSON.stringify(lines)).toContain('***');
  });

  it('masks values at a great depth, and keeps numbers', () => {
    const deep = { a: { b: { c: { d: { e: { f: { g: { token: CANARY } } } } } } } };
    const text = JSON.stringify(linesOf((logger) => logger.log({ ...deep, tokens: 3 })));
    expect(text).not.toContain(CANARY);
    expect(text).toContain('"tokens":3');
  });
});
