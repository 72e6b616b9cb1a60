import WebSocket from 'ws';

import { csrfTokenOf } from '../../src/common/http/csrf.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { eventually } from './eventually.js';

type Message = Record<string, unknown>;
export type Groups = Record<string, unknown>;

/** Socket of a browser with a session, with the messages received so far. */
export class LiveListener {
  readonly messages: Message[] = [];
  closed: number | undefined;

  private constructor(
    readonly socket: WebSocket,
    private readonly token: string,
  ) {
    socket.on('message', (data: Buffer) => this.messages.push(JSON.parse(String(data)) as Message));
    socket.on('close', (code) => (this.closed = code));
  }

  /** @throws the status of a refused handshake, as text */
  static async open(
    url: string,
    cookie: string,
    { path = '/websocket/', ...headers }: Groups = {},
  ) {
    const session = /session=(\w+)/.exec(cookie)?.[1] ?? '';
    const token = csrfTokenOf(session);
    const socket = new WebSocket(`${url.replace('http', 'ws')}${String(path)}`, {
      headers: { Cookie: `${cookie}; csrftoken=${token}`, Origin: url, ...headers },
    });
    const listener = new LiveListener(socket, token);
    await new Promise<void>((resolve, reject) => {
      socket.on('open', resolve);
      socket.on('unexpected-response', (_request, { statusCode }) =>
        reject(new Error(String(statusCode))),
      );
      socket.on('error', reject);
    });
    return listener;
  }

  /** Sends a subscription and waits for the response. */
  async follow(groups: Groups): Promise<Message> {
    const before = this.messages.length;
    this.subscribe(groups);
    return eventually(() => {
      const response = this.messages.slice(before).find((message) => 'groups_current' in message);
      expect(response).toBeDefined();
      return response!;
    });
  }

  /** Sends a subscription. */
  subscribe(groups: Groups): void {
    this.send({ xrftoken: this.token, groups });
  }

  send(message: unknown): void {
    this.socket.send(JSON.stringify(message));
  }

  of(group: string): Message[] {
    return this.messages.filter(({ group_name: name }) => name === group);
  }

  get counters(): unknown[] {
    return this.of('job_events').map(({ counter }) => counter);
  }

  /** Returns the received statuses of a run in order, without summaries. */
  statuses(run: Row, group = 'jobs'): unknown[] {
    return this.of(group)
      .filter(({ unified_job_id: id, summary }) => id === run.id && summary !== true)
      .map(({ status }) => status);
  }
}
