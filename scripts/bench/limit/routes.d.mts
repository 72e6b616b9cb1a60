/** What the limit answers: a table of routes, each a statement or a few lines. */
import type pg from 'pg';

/** Ids and secrets of what the routes speak of. */
export type Objects = Readonly<Record<string, number | string>>;

export interface Read {
  /** Path with its query, as the product is asked. */
  path: string;
  /** One statement; `$1` is the digest of the token. */
  text: string;
  /** The answer, made of the rows of the statement. */
  answer: (rows: readonly Record<string, unknown>[], path: string) => object;
}

/** A question that both are asked. */
export interface Scenario {
  name: string;
  read: Read;
  /** Whether a user with one role of each kind asks, through a team. */
  member: boolean;
  /** One object, no list. */
  isObject: boolean;
}

export interface Request {
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Digest of the token it came with. */
  digest: string;
  body: Buffer;
}

export type Write = (request: Request, pool: pg.Pool) => Promise<{ status: number; body: object }>;
