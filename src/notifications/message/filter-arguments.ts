import { numberOf, textOf } from './jinja-values.js';
import type { ValueFactory } from './jinja-values.js';
import type { EngineValue } from './sandbox-task.js';

/** The arguments of a filter, already evaluated. */
export class FilterArguments {
  constructor(
    readonly positional: readonly EngineValue[],
    readonly named: ReadonlyMap<string, EngineValue>,
  ) {}

  value(position: number, name: string): EngineValue | undefined {
    return this.positional[position] ?? this.named.get(name);
  }

  /** Returns the text of an argument. */
  text(position: number, name: string, otherwise: string): string {
    const value = this.value(position, name);
    return value ? textOf(value) : otherwise;
  }

  number(position: number, name: string, otherwise: number): number {
    const value = this.value(position, name);
    return value ? numberOf(value) : otherwise;
  }

  /** Returns true for an argument that is true; zero, empty texts and none are not. */
  flag(position: number, name: string, otherwise = false): boolean {
    const value = this.value(position, name);
    return value ? Boolean(value.value) : otherwise;
  }
}

/** A filter, as a function of the value before it and its arguments. */
export type Filter = (value: EngineValue, args: FilterArguments, make: ValueFactory) => EngineValue;

/** Longest text and list that a filter may make out of a number. */
const MAX_SIZE = 10_000;

/** Returns a size or count that a template gives. @throws Error for less than `least` and over 10,000 */
export function sizeOf(number: number, least = 1): number {
  if (Number.isInteger(number) && number >= least && number <= MAX_SIZE) return number;
  throw new Error(`a size from ${least} to ${MAX_SIZE} is needed`);
}
