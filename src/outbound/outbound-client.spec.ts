import { createServer, type AddressInfo, type Socket } from 'node:net';
import { HttpSink } from '../../test/support/fakes/http-sink.js';
import { OutboundClient, type OutboundClientOptions } from './outbound-client.js';

const open: OutboundClient[] = [];
const client = (options: Partial<OutboundClientOptions> = {}): OutboundClient => {
  const made = new OutboundClient({
    allow: ['127.0.0.0/8'],
    userAgent: 'controller/1',
    ...options,
  });
  open.push(made);
  return made;
};

let sink: HttpSink;
beforeEach(async () => {
  sink = await HttpSink.start();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((made) => made.onApplicationShutdown()));
  await sink.close();
});

describe('OutboundClient', () => {
  it('sends method, headers and body and returns the response', async () => {
    sink.reply({ status: 201, body: 'made', headers: { 'x-id': '7' } });
    const answer = await client().request({
      method: 'POST',
      url: `${sink.url}/path?q=1`,
      headers: { 'X-Own': 'yes' },
      body: 'hello',
    });
    expect(answer).toMatchObject({ status: 201, body: 'made', truncated: false });
    expect(answer.headers['x-id']).toBe('7');
    expect(answer.durationMs).toBeGreaterThanOrEqual(0);
    expect(sink.last).toMatchObject({ method: 'POST', path: '/path?q=1', body: 'hello' });
    expect(sink.last.headers).toMatchObject({ 'x-own': 'yes', 'user-agent': 'controller/1' });
  });

  it('sends the user agent of the caller', async () => {
    await client().request({ method: 'GET', url: sink.url, headers: { 'User-Agent': 'own' } });
    expect(sink.last.headers['user-agent']).toBe('own');
  });

  it('sends user information as Basic authentication and not in the request line', async () => {
    const url = sink.url.replace('http://', 'http://us%40er:p%3Aw@');
    await client().request({ method: 'GET', url: `${url}/x` });
    expect(sink.last.headers.authorization).toBe(
      `Basic ${Buffer.from('us@er:p:w').toString('base64')}`,
    );
    expect(sink.last.path).toBe('/x');
  });

  it('reads at most the allowed bytes of a response', async () => {
    sink.reply({ body: 'x'.repeat(5000) });
    const answer = await client({ maxResponseBytes: 1000 }).request({
      method: 'GET',
      url: sink.url,
    });
    expect(answer.body).toHaveLength(1000);
    expect(answer.truncated).toBe(true);
  });

  it.each([
    'http://127.0.0.1:1/',
    'http://0x7f.1:1/',
    'http://2130706433:1/',
    'http://[::1]:1/',
    'http://[::ffff:127.0.0.1]:1/',
    'http://[64:ff9b::7f00:1]:1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://localhost:1/',
    'http://0/',
  ])('refuses %s', async (url) => {
    await expect(client({ allow: [] }).request({ method: 'GET', url })).rejects.toMatchObject({
      kind: 'address',
      retryable: false,
    });
  });

  it('connects to the address that it checked, even if the name resolves to another one later', async () => {
    const answers = ['127.0.0.1', '10.0.0.1'];
    let asked = 0;
    const rebinding = client({
      allow: ['127.0.0.1'],
      resolver: () => Promise.resolve([{ address: answers[asked++] ?? '', family: 4 }]),
    });
    const url = `http://rebind.test:${sink.port}/`;
    sink.reply({ headers: { connection: 'close' } });
    await expect(rebinding.request({ method: 'GET', url })).resolves.toMatchObject({ status: 200 });
    await expect(rebinding.request({ method: 'GET', url })).rejects.toMatchObject({
      kind: 'address',
    });
    expect(asked).toBe(2);
  });

  it.each(['ftp://a.test/', 'file:///etc/passwd', 'nonsense', 'http://%zz/'])(
    'refuses the URL %s',
    async (url) => {
      await expect(client().request({ method: 'GET', url })).rejects.toMatchObject({
        kind: 'invalid',
      });
    },
  );

  it.each<Record<string, string>>([
    { 'X-A': 'a\r\nX-B: b' },
    { 'X-A\r\nX-B': 'b' },
    { 'X-A': 'nul\0' },
    { 'Transfer-Encoding': 'chunked' },
    { 'Content-Length': '3' },
  ])('refuses the headers %j', async (headers) => {
    await expect(client().request({ method: 'GET', url: sink.url, headers })).rejects.toMatchObject(
      { kind: 'invalid' },
    );
    expect(sink.requests).toHaveLength(0);
  });
});

describe('OutboundClient redirects', () => {
  const post = (redirects: 'same-host' | 'none' = 'same-host') =>
    client().request({ method: 'POST', url: `${sink.url}/a`, body: 'data', redirects });

  it.each([301, 307, 308])('keep method and body for %i', async (status) => {
    sink.reply({ status, headers: { location: '/b' } });
    await expect(post()).resolves.toMatchObject({ status: 200 });
    expect(sink.last).toMatchObject({ method: 'POST', path: '/b', body: 'data' });
  });

  it('are returned as responses if they are not to be followed', async () => {
    sink.reply({ status: 307, headers: { location: '/b' } });
    await expect(post('none')).resolves.toMatchObject({ status: 307 });
  });

  it('do not lead to another host', async () => {
    const other = await HttpSink.start();
    sink.reply({ status: 307, headers: { location: other.url } });
    await expect(post()).rejects.toMatchObject({ kind: 'redirect', retryable: false });
    expect(other.requests).toHaveLength(0);
    await other.close();
  });

  it('are limited to five', async () => {
    sink.reply(...Array.from({ length: 9 }, () => ({ status: 301, headers: { location: '/' } })));
    await expect(post()).rejects.toMatchObject({ name: 'RedirectLimitError', limit: 5 });
    expect(sink.requests).toHaveLength(6);
  });
});

describe('OutboundClient errors', () => {
  const get = (made: OutboundClient, url = sink.url) => made.request({ method: 'GET', url });

  it('limits the wait for the headers', async () => {
    sink.reply({ fault: 'hang' });
    await expect(get(client({ headersTimeoutMs: 60 }))).rejects.toMatchObject({
      kind: 'timeout',
      retryable: true,
    });
  });

  it('limits the whole call even if bytes keep arriving', async () => {
    sink.reply({ fault: 'drip' });
    await expect(get(client({ totalTimeoutMs: 150 }))).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('reports a reset connection', async () => {
    sink.reply({ fault: 'reset' });
    await expect(get(client())).rejects.toMatchObject({ kind: 'reset', retryable: true });
  });

  it('reports a refused connection', async () => {
    const { port } = sink;
    await sink.close();
    await expect(get(client(), `http://127.0.0.1:${port}/secret`)).rejects.toMatchObject({
      kind: 'connect',
      message: expect.not.stringContaining('secret'),
    });
    sink = await HttpSink.start();
  });

  it('limits the TLS handshake', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    await expect(
      get(client({ connectTimeoutMs: 100 }), `https://127.0.0.1:${port}/`),
    ).rejects.toMatchObject({ kind: 'timeout' });
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('verifies certificates unless the options disable it', async () => {
    const tls = await HttpSink.start({ tls: true });
    await expect(get(client(), tls.url)).rejects.toMatchObject({ kind: 'tls', retryable: false });
    const answer = await client().request({ method: 'GET', url: tls.url, verifyTls: false });
    expect(answer.status).toBe(200);
    await tls.close();
  });

  it('can be aborted by the caller', async () => {
    sink.reply({ fault: 'hang' });
    const signal = AbortSignal.timeout(50);
    await expect(client().request({ method: 'GET', url: sink.url, signal })).rejects.toMatchObject({
      kind: 'timeout',
    });
  });
});
