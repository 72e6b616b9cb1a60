import { issueToken } from '../../../src/common/crypto/tokens.js';
import type { Row } from '../../../src/common/resource/define-resource.js';
import type { Cluster } from './cluster.js';
import type { Environment, Program } from './processes.js';

/** Calls of a superuser to an API process of a cluster. */
export class ApiCalls {
  private constructor(
    private readonly program: Program & { url: string },
    private readonly token: string,
  ) {}

  get url(): string {
    return this.program.url;
  }

  /** Value of the header with which it calls. */
  get authorization(): string {
    return `Bearer ${this.token}`;
  }

  /** What the process has logged. */
  output(): string {
    return this.program.output();
  }

  /** Starts an API process, and makes the superuser. */
  static async start(cluster: Cluster, environment: Environment = {}): Promise<ApiCalls> {
    const { token, digest } = issueToken();
    await cluster.rows(
      `WITH admin AS (INSERT INTO users (username, is_superuser) VALUES ('root', true) RETURNING id)
       INSERT INTO tokens (description, scope, user_id, digest, expires)
       SELECT '', 'write', id, $1, now() + interval '1 hour' FROM admin`,
      [digest],
    );
    return new ApiCalls(await cluster.api(environment), token);
  }

  /**
   * @param path below `/api/v2/`
   * @returns the body of the answer
   * @throws Error for any status but those of success
   */
  async call(method: string, path: string, body?: object): Promise<Row> {
    const text = await this.text(method, path, body);
    return JSON.parse(text === '' ? '{}' : text) as Row;
  }

  /** As `call`, the answer as it was sent. @param accept media type asked for */
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
