const read: <Value>(text: string) => Record<string, Value> = JSON.parse;

/**
 * An object of some names, to be copied and filled: its values are null. One that is given many names one by
 * one becomes a table of them inside of V8, which is slow to make, to read and to write as JSON; one that
 * is read from JSON does not, nor do its copies.
 */
export const blankOf = <Value>(names: readonly string[]): Readonly<Record<string, Value>> =>
  read(`{${names.map((name) => `${JSON.stringify(name)}:null`).join(',')}}`);
