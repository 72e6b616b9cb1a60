import { ApiClient } from '../../support/client.js';
import { isItem, type Item } from '../collection/python-values.js';

/** Failure of a command, with the response of the server. */
export class CommandFailure extends Error {}

export type Login = { token: string } | { username: string; password: string };

export interface Answer {
  status: number;
  headers: Record<string, unknown>;
  json: Item;
  text: string;
}

const HEADERS = { Accept: '*/*', 'User-Agent': 'python-requests/2.28.1' };

/** Requests of one command: it reads the root without credentials, then logs in. */
export class Session {
  /** `METHOD /path` of every request. */
  readonly requests: string[] = [];
  private readonly cookies = new Map<string, string>();
  private headers: Record<string, string> = {};
  /** Paths of the collections by the names of the root. */
  root: Item = {};

  constructor(
    private readonly url: string,
    private readonly login: Login,
  ) {}

  async start(): Promise<void> {
    const { available_versions: versions } = (await this.send('GET', '/api/')).json;
    if (!isItem(versions)) throw new CommandFailure('There are no versions.');
    this.root = (await this.send('GET', String(versions.v2))).json;
    if ('token' in this.login) this.headers = { Authorization: `Bearer ${this.login.token}` };
    else await this.openSession(this.login);
  }

  /** @throws CommandFailure for an error response */
  async ask(method: string, path: string, body?: Item): Promise<Answer> {
    const answer = await this.send(method, path, body);
    if (answer.status >= 400)
      throw new CommandFailure(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  /** Returns any response, including errors. */
  async send(method: string, path: string, body?: Item): Promise<Answer> {
    const isWrite = ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method);
    const pending = this.client(isWrite ? this.writing(path) : {}).request(method, path, body);
    return this.received(method, path, await pending);
  }

  /** Gets the CSRF cookie, and then a session for name and password. */
  private async openSession({
    username,
    password,
  }: {
    username: string;
    password: string;
  }): Promise<void> {
    await this.send('GET', '/api/');
    const path = '/api/login/';
    const form = { username, password, next: '/api/' };
    const pending = this.client(this.writing(path)).post(path).type('form').send(form);
    // The client ignores this status: a failed login shows in the next response.
    this.received('POST', path, await pending);
    await this.send('GET', '/api/');
    await this.send('GET', '/api/');
  }

  private client(further: Record<string, string>): ApiClient {
    const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ');
    return new ApiClient(this.url, { ...HEADERS, ...this.headers, ...further }).with({
      Cookie: cookie,
    });
  }

  private writing(path: string): Record<string, string> {
    const proof = this.cookies.get('csrftoken');
    return proof ? { 'X-CSRFToken': proof, Referer: `${this.url}${path}` } : {};
  }

  private received(
    method: string,
    path: string,
    answer: { status: number; headers: Record<string, unknown>; text: string },
  ): Answer {
    this.requests.push(`${method} ${path}`);
    for (const cookie of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(String(cookie)) ?? [];
      if (name !== undefined && value !== undefined) this.cookies.set(name, value);
    }
    const { status, headers, text } = answer;
    const isJson = String(headers['content-type']).startsWith('application/json');
    const json: unknown = isJson && text !== '' ? JSON.parse(text) : {};
    return { status, headers, text, json: isItem(json) ? json : {} };
  }
}
