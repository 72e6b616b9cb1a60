import { blankOf } from '../../database/blank.js';

const NOTHING: object = {};

/** Objects whose names are the same for most rows of a resource: each is a copy of one that has them. */
export class Blanks<Value> {
  private readonly known = new Map<string | number, Map<string, Readonly<Record<string, Value>>>>();

  /**
   * @param kind stands for the names that objects begin with
   * @param names those, asked for where a kind is new
   * @returns what makes an object that begins so and goes on with the names of another; all are there,
   *   and are to be filled
   */
  of(
    kind: string | number,
    names: () => readonly string[],
  ): (further: object | undefined) => Record<string, Value> {
    const ofKind = this.known.get(kind) ?? new Map<string, Readonly<Record<string, Value>>>();
    this.known.set(kind, ofKind);
    return (further = NOTHING) => {
      const others = Object.keys(further);
      const key = others.join();
      const blank = ofKind.get(key) ?? blankOf<Value>([...names(), ...others]);
      ofKind.set(key, blank);
      return { ...blank };
    };
  }
}
