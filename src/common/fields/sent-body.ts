import type { Field } from './field.js';

type Body = Readonly<Record<string, unknown>>;

/**
 * A body on its way through class-transformer, which gets to see nothing of it: it would copy every
 * document in it, and call what one says is its `constructor`. Each field takes its own value out.
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

/** What a body says of a field; undefined: nothing. */
export function sentValue(body: Body, field: Field): unknown {
  const value = valueUnder(body, field);
  return value === null && field.nullSaysNothing ? undefined : value;
}

function valueUnder(body: Body, { name, formerName }: Field): unknown {
  if (Object.hasOwn(body, name)) return body[name];
  return formerName !== null && Object.hasOwn(body, formerName) ? body[formerName] : undefined;
}
