import { issueToken } from '../../../src/common/crypto/tokens.js';
import type { Row } from '../../../src/common/resource/define-resource.js';
import type { Cluster } from './cluster.js';
import type { Environment, Program } from './processes.js';

/** Client of a superuser for an API of a cluster. */
export class ApiCalls {
  private constructor(
    readonly url: string,
    private readonly token: string,
    private readonly program: Program | null,
  ) {}

  /** Value of the client's `Authorization` header. */
  get authorization(): string {
    return `Bearer ${this.token}`;
  }

  /** Returns the log of the process. */
  output(): string {
    return this.program?.output() ?? '';
  }

  /** Starts an API process, and creates the superuser. */
  static async start(cluster: Cluster, environment: Environment = {}): Promise<ApiCalls> {
    const token = await ApiCalls.tokenFor(cluster);
    const program = await cluster.api(environment);
    return new ApiCalls(program.url, token, program);
  }

  /** Starts an API in this process, which no test can end. */
  static async inside(cluster: Cluster, environment: Environment = {}): Promise<ApiCalls> {
    const token = await ApiCalls.tokenFor(cluster);
    const { url } = await cluster.apiInside(environment);
    return new ApiCalls(url, token, null);
  }

  /** Creates the superuser, with a token. */
  private static async tokenFor(cluster: Cluster): Promise<string> {
    const { token, digest } = issueToken();
    await cluster.rows(
      `WITH admin AS (INSERT INTO users (username, is_superuser) VALUES ('root', true) RETURNING id)
       INSERT INTO tokens (description, scope, user_id, digest, expires)
       SELECT '', 'write', id, $1, now() + interval '1 hour' FROM admin`,
      [digest],
    );
    return token;
  }

  /**
   * Sends a request.
   *
   * @param path below `/api/v2/`
   * @returns the body of the response
   * @throws Error for any status but those of success
   */
  async call(method: string, path: string, body?: object): Promise<Row> {
    const text = await this.text(method, path, body);
    return JSON.parse(text === '' ? '{}' : text) as Row;
  }

  /**
   * Sends a request and returns the response body as text.
   * @param accept requested media type
   */
  async text(
    method: string,
    path: string,
    body?: object,
    accept = 'application/json',
  ): Promise<string> {
    const answer = await fetch(`${this.url}/api/v2/${path}`, {
      method,
      headers: {
        Accept: accept,
        Authorization: this.authorization,
        'Content-Type': 'application/json',
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text;
  }
}
