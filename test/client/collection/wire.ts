import { ApiClient } from '../../support/client.js';
import { isItem, type Item, pythonJson } from './python-values.js';

/** Failure of a task, with the message of the server if there is one. */
export class ModuleFailure extends Error {}

/**
 * Login of a module: with a token that it creates and deletes at the end, as in older versions; with Basic on
 * every request, as in the newest; or with a given token.
 */
export type Login =
  | { by: 'own token' | 'basic'; username: string; password: string }
  | { by: 'given token'; token: string };

export interface Exchange {
  method: string;
  /** Path with the query. */
  path: string;
  status: number;
  /** Body as sent. */
  body?: string;
}

export interface Answer {
  status: number;
  json: Item;
}

const ROOT = '/api/v2';
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Requests of one task. The collection logs in again for each task. */
export class Wire {
  readonly exchanges: Exchange[] = [];
  readonly warnings: string[] = [];
  private authorization: string | undefined;
  private ownToken: unknown;

  constructor(
    private readonly url: string,
    private readonly login: Login,
  ) {}

  get(endpoint: string, query: Item = {}): Promise<Answer> {
    return this.send('GET', endpoint, { query });
  }

  post(endpoint: string, data: Item = {}): Promise<Answer> {
    return this.send('POST', endpoint, { data });
  }

  patch(endpoint: string, data: Item): Promise<Answer> {
    return this.send('PATCH', endpoint, { data });
  }

  delete(endpoint: string): Promise<Answer> {
    return this.send('DELETE', endpoint);
  }

  /** Deletes the token that the task created. */
  async close(): Promise<void> {
    if (this.ownToken === undefined || this.login.by === 'given token') return;
    const path = `${ROOT}/tokens/${String(this.ownToken)}/`;
    const { status } = await this.exchange('DELETE', path, basic(this.login));
    if (status >= 300) this.warnings.push(`The token was not released: ${status}.`);
  }

  private async send(
    method: string,
    endpoint: string,
    { query = {}, data }: { query?: Item; data?: Item } = {},
  ): Promise<Answer> {
    this.authorization ??= await this.authorize();
    const path = pathOf(endpoint, query);
    const { status, text } = await this.exchange(method, path, this.authorization, data);
    const answer = { status, json: parsed(text, path) };
    if (status >= 500) throw new ModuleFailure(`${path}: the server failed (${status}).`);
    if (status === 401) throw new ModuleFailure(`${path}: invalid credentials.`);
    if (status === 403)
      throw new ModuleFailure(
        `No permission to ${method} ${path}: ${String(member(answer.json, 'detail'))}`,
      );
    if (status === 404) throw new ModuleFailure(`Nothing was found at ${path}.`);
    if (status === 405) throw new ModuleFailure(`${path} does not take ${method}.`);
    return answer;
  }

  /** @returns the header of all further requests */
  private async authorize(): Promise<string> {
    const { login } = this;
    if (login.by === 'given token') return `Bearer ${login.token}`;
    if (login.by === 'own token') {
      const sent = { description: 'Token of a task', application: null, scope: 'write' };
      // A gateway, if there is one, issues the tokens.
      for (const path of ['/api/gateway/v1/tokens/', `${ROOT}/tokens/`]) {
        const { status, text } = await this.exchange('POST', path, basic(login), sent);
        if (status < 300) {
          const token = parsed(text, path);
          this.ownToken = member(token, 'id');
          return `Bearer ${String(member(token, 'token'))}`;
        }
        this.warnings.push(`No token from ${path}: ${status}.`);
      }
    }
    const { status } = await this.exchange('GET', `${ROOT}/me/`, basic(login));
    if (status >= 300) throw new ModuleFailure(`The login was refused (${status}).`);
    return basic(login);
  }

  private async exchange(
    method: string,
    path: string,
    authorization: string,
    data?: Item,
  ): Promise<{ status: number; text: string }> {
    // No Accept header, and a body on every write.
    const headers = { 'User-Agent': 'ansible-httpget', Authorization: authorization };
    const body = data && pythonJson(data);
    const client = new ApiClient(
      this.url,
      body === undefined ? headers : { ...headers, ...JSON_TYPE },
    );
    const answer = await client.request(method, path, body);
    this.exchanges.push({
      method,
      path,
      status: answer.status,
      ...(body !== undefined && { body }),
    });
    checkVersion(answer.headers['x-api-product-version']);
    return { status: answer.status, text: answer.text };
  }
}

/** Returns a member that the modules take for granted. */
export function member(item: Item, name: string): unknown {
  if (!(name in item))
    throw new ModuleFailure(`There is no ${name} in ${JSON.stringify(item).slice(0, 300)}.`);
  return item[name];
}

/** Returns a link of an object. */
export const related = (item: Item, name: string): string =>
  String(member(itemOf(item, 'related'), name));

/** Returns a member that is an object itself. */
export function itemOf(item: Item, name: string): Item {
  const value = member(item, name);
  if (!isItem(value)) throw new ModuleFailure(`${name} is not an object: ${JSON.stringify(value)}`);
  return value;
}

const basic = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

function pathOf(endpoint: string, query: Item): string {
  const rooted = endpoint.startsWith('/') ? endpoint : `/${endpoint}`;
  const full = rooted.startsWith('/api/') ? rooted : `${ROOT}${rooted}`;
  const path = full.endsWith('/') || full.includes('?') ? full : `${full}/`;
  const pairs = Object.entries(query).map(([name, value]): [string, string] => [name, word(value)]);
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs).toString()}`;
}

/** Writes a value of a query as Python does. */
function word(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return String(value);
}

function parsed(text: string, path: string): Item {
  if (text === '') return {};
  const json: unknown = JSON.parse(text);
  if (!isItem(json)) throw new ModuleFailure(`${path} did not answer an object: ${text}`);
  return json;
}

/** Fails as the modules do if the version does not start with two numbers. A missing version is accepted. */
function checkVersion(version: unknown): void {
  if (version !== undefined && !/^\d+\.\d+/.test(String(version)))
    throw new ModuleFailure(`The version ${String(version)} cannot be read.`);
}
