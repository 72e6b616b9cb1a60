/** Types of the routes of the limit. Each route is a statement or a few lines. */
import type pg from 'pg';

/** Ids and secrets of the objects in the routes. */
export type Objects = Readonly<Record<string, number | string>>;

export interface Read {
  /** Path and query of the request to the product. */
  path: string;
  /** One statement; `$1` is the digest of the token. */
  text: string;
  /** Returns the response for the rows of the statement. */
  answer: (rows: readonly Record<string, unknown>[], path: string) => object;
}

/** Request to the product and to the limit. */
export interface Scenario {
  name: string;
  read: Read;
  /** True if the caller is a team member with few roles, false for an administrator. */
  member: boolean;
  /** True for a single object, false for a list. */
  isObject: boolean;
}

export interface Request {
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Digest of the token. */
  digest: string;
  body: Buffer;
}

export type Write = (request: Request, pool: pg.Pool) => Promise<{ status: number; body: object }>;
