import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { request as narrate } from './narrator.mjs';

/** Returns the folder in which `npm start` stores its data. */
export const dataFolder = () => process.env.DATA_DIR ?? 'var';

/**
 * Creates a client for the running server from CONTROLLER_URL and CONTROLLER_TOKEN, or else from the files of
 * `npm start`.
 */
export async function connect() {
  const url = (process.env.CONTROLLER_URL ?? (await startedUrl())).replace(/\/$/, '');
  const token = process.env.CONTROLLER_TOKEN ?? (await startedToken());
  const api = new Api(url, token);
  await api.call('GET', '/api/v2/me/', undefined, { quiet: true }).catch((error) => {
    throw new Error(`No server responds at ${url} (${error.message}). Run npm start first.`);
  });
  return api;
}

/** Returns the URL that `npm start` wrote to its data folder. */
async function startedUrl() {
  const file = join(dataFolder(), 'running.json');
  try {
    return String(JSON.parse(await readFile(file, 'utf8')).url);
  } catch {
    throw new Error(`No URL in ${file}. Run npm start first, or set CONTROLLER_URL.`);
  }
}

async function startedToken() {
  const file = join(dataFolder(), 'admin_token');
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    throw new Error(`No token in ${file}. Run npm start first, or set CONTROLLER_TOKEN.`);
  }
}

class Api {
  constructor(url, token) {
    this.url = url;
    this.token = token;
  }

  get = (path, options) => this.call('GET', path, undefined, options);
  post = (path, body = {}, options) => this.call('POST', path, body, options);
  patch = (path, body, options) => this.call('PATCH', path, body, options);

  /**
   * Sends a request with the token.
   * @throws Error with status and body unless the request succeeds
   */
  async call(method, path, body, { quiet = false } = {}) {
    if (!quiet) narrate(method, path, body, { Authorization: 'Bearer $TOKEN' });
    const response = await this.send(
      method,
      path,
      body === undefined ? undefined : JSON.stringify(body),
      {
        Authorization: `Bearer ${this.token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
    );
    if (response.status >= 400) {
      throw new Error(`${method} ${path} returned ${response.status}: ${response.text}`);
    }
    return response.body;
  }

  /** Sends exactly these bytes and headers. */
  async send(method, path, body, headers) {
    const response = await fetch(`${this.url}${path}`, { method, body, headers });
    const text = await response.text();
    let parsed = null;
    try {
      parsed = text === '' ? null : JSON.parse(text);
    } catch {
      // The body is plain text, such as job output.
    }
    return { status: response.status, text, body: parsed };
  }
}

/** Calls `read` repeatedly until `accept` returns true for its value. */
export async function until(read, accept, { seconds = 90, everyMs = 40 } = {}) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await read();
    if (accept(value)) return value;
    if (Date.now() > end)
      throw new Error(`No result after ${seconds} s of waiting for the server.`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
