import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Response } from 'express';
import { Settings } from '../../config/settings.js';
import { Unavailable } from '../errors/errors.js';
import { UnauthenticatedBytes } from './unauthenticated-bytes.service.js';

const server = createServer();
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => server.close());

/** Sends an incomplete request. Returns its response, and a function that closes the connection. */
async function openConnection(): Promise<{ response: Response; leave: () => Promise<unknown> }> {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, method: 'POST', headers: { 'Content-Length': '9' } });
  sent.on('error', () => undefined).flushHeaders();
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  const leave = (): Promise<unknown> => {
    const gone = once(response, 'close');
    sent.destroy();
    return gone;
  };
  return { response: response as Response, leave };
}

const holding = (max: number): UnauthenticatedBytes =>
  new UnauthenticatedBytes({ UNAUTHENTICATED_BYTES_MAX: max } as Settings);

describe('UnauthenticatedBytes', () => {
  it('limits the bytes of all unauthenticated requests until they end', async () => {
    const held = holding(10);
    const [first, second] = [await openConnection(), await openConnection()];
    held.add(first.response, 4);
    held.add(first.response, 4);
    expect(() => held.add(second.response, 4)).toThrow(Unavailable);
    await first.leave();
    held.add(second.response, 10);
    await second.leave();
  });

  it('counts no bytes for connections that are already closed', async () => {
    const held = holding(10);
    const [gone, present] = [await openConnection(), await openConnection()];
    await gone.leave();
    held.add(gone.response, 10);
    held.add(present.response, 10);
    await present.leave();
  });
});
