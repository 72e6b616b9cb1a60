import type { Field } from './field.js';

/** JSON list whose entries have their own controls in forms. */
export interface FormRows {
  /** Display name of an entry: "Question". */
  label: string;
  /** Members of an entry. */
  fields: readonly Field[];
  /** Names of members that can contain secrets. Secrets are discarded if the user must log in again. */
  secrets: readonly string[];
  /** Converts the members in a form to the entry that is sent. */
  read(row: Readonly<Record<string, unknown>>): Record<string, unknown>;
}
