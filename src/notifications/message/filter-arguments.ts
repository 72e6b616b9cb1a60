import { numberOf, jinjaTextOf, type ValueFactory } from './jinja-values.js';
import type { EngineValue } from './sandbox-task.js';

/** Evaluated arguments of a filter. */
export class FilterArguments {
  constructor(
    readonly positional: readonly EngineValue[],
    readonly named: ReadonlyMap<string, EngineValue>,
  ) {}

  value(position: number, name: string): EngineValue | undefined {
    return this.positional[position] ?? this.named.get(name);
  }

  text(position: number, name: string, defaultValue: string): string {
    const value = this.value(position, name);
    return value ? jinjaTextOf(value) : defaultValue;
  }

  number(position: number, name: string, defaultValue: number): number {
    const value = this.value(position, name);
    return value ? numberOf(value) : defaultValue;
  }

  /** Returns true if the argument is truthy; a missing argument, zero, empty texts and none are falsy. */
  flag(position: number, name: string): boolean {
    return Boolean(this.value(position, name)?.value);
  }
}

/** A filter: a function of the preceding value and its arguments. */
export type Filter = (value: EngineValue, args: FilterArguments, make: ValueFactory) => EngineValue;

/** Maximum size of a text or list that a filter creates from a number. */
const MAX_SIZE = 10_000;

/**
 * Validates a size or count from a template and returns it.
 *
 * @throws Error for a number below `minimum` or above 10,000, and for a fraction
 */
export function sizeOf(number: number, minimum = 1): number {
  if (Number.isInteger(number) && number >= minimum && number <= MAX_SIZE) return number;
  throw new Error(`a size from ${minimum} to ${MAX_SIZE} is needed`);
}
