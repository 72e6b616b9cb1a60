import type { Field } from './field.js';

/** A list of JSON objects that forms ask for one by one. */
export interface FormRows {
  /** What people call an entry: "Question". */
  label: string;
  /** Members of an entry. */
  fields: readonly Field[];
  /** Names of members that may hold secrets: they are not kept while somebody logs in again. */
  secrets: readonly string[];
  /** The entry that is sent, of members as the form has them. */
  read(row: Readonly<Record<string, unknown>>): Record<string, unknown>;
}
