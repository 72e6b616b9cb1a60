import { inspect } from 'node:util';

const STARS = '********';

/**
 * A secret value that cannot reach a log line, an error message or a JSON document by accident:
 * every implicit conversion prints stars, only `reveal()` gives the text.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The secret itself. Call it where the value is used, and do not keep the result. */
  reveal(): string {
    return this.#value;
  }

  /** Tells set from unset without revealing anything. */
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
