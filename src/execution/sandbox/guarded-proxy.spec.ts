import { once } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type AddressInfo, connect, createServer, type Server, Socket } from 'node:net';
import { AddressGuard } from '../../outbound/address-guard.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import { GuardedProxy } from './guarded-proxy.js';

const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];
/** Length of the replies of a SOCKS server that permits a connection. */
const REPLY_BYTES = 12;
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Returns the bytes with which a SOCKS client requests a connection to `example.org`. */
function request(port: number): Buffer {
  const name = Buffer.from('example.org');
  const target = Buffer.from([5, 1, 0, 3, name.length, ...name, port >> 8, port & 0xff]);
  return Buffer.concat([Buffer.from([5, 1, 0]), target]);
}

describe('a guarded proxy', () => {
  let target: Server;
  let reached: Socket[];
  beforeEach(async () => {
    reached = [];
    target = createServer((socket) => reached.push(socket.on('error', () => undefined).resume()));
    await once(target.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => target.close());

  const open = (resolve: () => Promise<typeof LOOPBACK>): Promise<GuardedProxy> =>
    GuardedProxy.open(Object.assign(new AddressGuard([]), { resolve }));

  async function ask(proxy: GuardedProxy): Promise<Socket> {
    const client = connect(Number(new URL(proxy.url).port), '127.0.0.1');
    await once(client, 'connect');
    client.on('error', () => undefined).resume();
    client.write(request(portOf(target)));
    return client;
  }

  it('closes the target connection when the client disconnects', async () => {
    const proxy = await open(() => Promise.resolve(LOOPBACK));
    const client = await ask(proxy);
    const [socket] = (await once(target, 'connection')) as [Socket];
    client.destroy();
    await once(socket, 'close');
    await proxy.close();
  });

  it('passes the last bytes of the target to a client that reads slowly', async () => {
    const proxy = await open(() => Promise.resolve(LOOPBACK));
    const accepted = jest.spyOn(Socket.prototype, 'pipe');
    const client = await ask(proxy);
    let received = 0;
    client.pause().on('data', (chunk: Buffer) => (received += chunk.length));
    const [socket] = (await once(target, 'connection')) as [Socket];
    while (accepted.mock.contexts.length < 2) await setImmediate();
    const [served] = accepted.mock.contexts as [Socket];
    accepted.mockRestore();
    // Fills the buffers of the system, until the proxy itself keeps bytes for the client.
    while (served.writableLength === 0) {
      socket.write(Buffer.alloc(1000));
      await setImmediate();
    }
    socket.end();
    await setTimeout(200);
    client.resume();
    await once(client, 'close');
    expect(received).toBe(socket.bytesWritten + REPLY_BYTES);
    await proxy.close();
  });

  it('does not connect for a client that disconnected during the name lookup', async () => {
    let found: (addresses: typeof LOOPBACK) => void = () => undefined;
    let isAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    const proxy = await open(() => {
      isAsked();
      return new Promise((resolve) => (found = resolve));
    });
    const client = await ask(proxy);
    await asked;
    client.destroy();
    await setTimeout(100);
    found(LOOPBACK);
    await setTimeout(200);
    expect(reached.filter((socket) => !socket.destroyed)).toEqual([]);
    await proxy.close();
  });

  it('keeps few refusals of a program that repeats its requests', async () => {
    let asked = 0;
    const proxy = await open(() => {
      asked += 1;
      return Promise.reject(new OutboundError('address', `Host ${asked % 40} is refused.`));
    });
    for (let count = 0; count < 100; count += 1) await once(await ask(proxy), 'close');
    expect(proxy.refusals).toEqual(
      Array.from({ length: 20 }, (_, at) => `Host ${at + 1} is refused.`),
    );
    await proxy.close();
  });
});
