import type { Field } from './field.js';

type Body = Readonly<Record<string, unknown>>;

/**
 * Wrapper that hides a body from class-transformer, which would copy all JSON documents in the body and use
 * a member named `constructor` as the class. Each field reads its own value from the body.
 */
export class SentBody {
  #body: Body;

  constructor(body: Body) {
    this.#body = body;
  }

  get body(): Body {
    return this.#body;
  }
}

/** Returns the value of a field in a body, or undefined. */
export function sentValue(body: Body, field: Field): unknown {
  const value = valueUnder(body, field);
  return value === null && field.nullMeansAbsent ? undefined : value;
}

function valueUnder(body: Body, { name, formerName }: Field): unknown {
  if (Object.hasOwn(body, name)) return body[name];
  return formerName !== null && Object.hasOwn(body, formerName) ? body[formerName] : undefined;
}
