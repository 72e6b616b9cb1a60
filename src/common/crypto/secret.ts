import { inspect } from 'node:util';

const STARS = '********';

/**
 * Secret value that cannot reach a log line, an error message or a JSON document by accident: every
 * implicit conversion prints stars, and only `reveal()` returns the text.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Returns the secret. Call this method where the value is used, and do not store the result. */
  reveal(): string {
    return this.#value;
  }

  /** True if the secret is not set. */
  get isEmpty(): boolean {
    return this.#value === '';
  }

  toString(): string {
    return STARS;
  }

  toJSON(): string {
    return STARS;
  }

  [inspect.custom](): string {
    return `Secret(${STARS})`;
  }
}
