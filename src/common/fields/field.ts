import type { Providers } from '../providers.js';
import type { Sql } from '../../database/sql.js';
import type { OnDelete } from '../../database/table.js';
import { BrokenInvariant } from '../invariants.js';
import { prototypeOf } from '../records.js';
import { COLUMN_TYPES } from './column-types.js';
import type { FormRows } from './form-rows.js';
import type { JsonSchema } from './json-schema.js';
import { labelOf } from './label.js';
import { defaultOf } from './lenient.js';
import { Reads } from './reads.js';
import type { ResourceDefinition } from '../resource/define-resource.js';

export type FieldKind =
  | 'string'
  | 'text'
  | 'integer'
  | 'boolean'
  | 'choice'
  | 'datetime'
  | 'float'
  | 'json'
  | 'variables'
  | 'secret'
  | 'email'
  | 'reference';

export type Choice = readonly [value: string | number, label: string];

/** What one field of a resource is. Everything that reads a resource reads this and nothing else. */
export interface Field {
  /** Name in JSON, in filters and in forms. */
  name: string;
  /** Name that older clients send it under. */
  formerName: string | null;
  kind: FieldKind;
  /** Column of the table, or null for a field that is computed or stored elsewhere. */
  column: string | null;
  /** SQL of a computed field's value over a row: lists are filtered and ordered by it. */
  computed: ((alias: string) => Sql) | null;
  label: string;
  help: string;
  required: boolean;
  nullable: boolean;
  /** Shown, never accepted. */
  readOnly: boolean;
  /** Accepted, never shown. */
  writeOnly: boolean;
  /** Accepted on creation only; ignored in a change, whatever is sent. */
  immutable: boolean;
  /** A column of the table that no client ever sees or filters by. */
  internal: boolean;
  /** Filterable and summarised, but not a key of the representation itself. */
  hidden: boolean;
  /** Left out of list pages: shown on the detail only. */
  detailOnly: boolean;
  blank: boolean;
  default: unknown;
  /** Whether a request that leaves the field out gets the default; only shown otherwise. */
  assumed: boolean;
  /** Null counts as not sent: clients send it where their user said nothing of the field. */
  nullSaysNothing: boolean;
  choices: readonly Choice[];
  max: number | null;
  min: number | null;
  /** False: filtering and ordering by it is refused with 403. */
  filter: boolean;
  search: boolean;
  /** Target of a reference. */
  target: (() => ResourceDefinition) | null;
  onDelete: OnDelete;
  /** Action the caller must be allowed on the referenced object when it is set; what a refusal says. */
  needs: string | null;
  refusal?: string;
  /** What is said of an id that leads to nothing; null: what is said of every reference. */
  unknown: ((id: unknown) => string) | null;
  /** Database index of the reference: of rows that have one alone, or none, since another serves. */
  index: boolean | 'where set';
  /** PostgreSQL type of the column. */
  columnType: string;
  /** Non-null default of the column as SQL, where it differs from `default`. */
  columnDefault: string | null;
  /** JSON of any shape is let through, because the resource has texts of its own for a wrong one. */
  anyShape: boolean;
  /** A list of JSON whose entries are read one by one, each with faults of its own. */
  entries: boolean;
  /** Further members of its description in OPTIONS, such as the schema of what it holds. */
  options: (() => Readonly<Record<string, unknown>>) | null;
  /** The same where a setting decides them. */
  optionsAt: ((services: Providers) => Promise<Readonly<Record<string, unknown>>>) | null;
  /** Values to start from, by what they are for; forms show them below the control. */
  examples: (() => Readonly<Record<string, unknown>>) | null;
  /** The control of forms, where the kind does not tell; null: as its kind has it. */
  control: 'date' | 'time' | 'zone' | 'lines' | null;
  /** Texts that forms suggest; others may be typed. */
  suggests: (() => readonly string[]) | null;
  /** How forms ask for the entries of a list of JSON, one by one; null: as a document. */
  rows: FormRows | null;
  /** JSON schema of the value, for kinds that do not tell: what a JSON field holds. */
  schema: JsonSchema | null;
}

export type FieldOptions = Partial<
  Omit<Field, 'name' | 'kind' | 'target' | 'columnType' | 'columnDefault'>
> & { columnType?: string; columnDefault?: string };

declare const REFERENCE: unique symbol;

/** The id of an object a property refers to. The mark tells the compiler; any number may stand here. */
export type Reference = number & { readonly [REFERENCE]?: never };

/** Name of the column of a property: `inventory_id` of a reference `inventory`. */
export type ColumnName<
  Name extends string,
  Value,
> = typeof REFERENCE extends keyof NonNullable<Value> ? `${Name}_id` : Name;

/** What a property holds, without the mark of references. */
export type Unmarked<Value> = typeof REFERENCE extends keyof NonNullable<Value>
  ? number | Extract<Value, null>
  : Value;

const declaredOn = new WeakMap<object, Map<string, Field>>();

/** A class whose properties are fields: of a resource, of a body. */
export type SchemaClass<T extends object = object> = abstract new (...args: never[]) => T;

/** The fields of a class, those of its ancestors among them. */
function ownFields(prototype: object): Map<string, Field> {
  const known = declaredOn.get(prototype);
  if (known) return known;
  const parent: unknown = Object.getPrototypeOf(prototype);
  const own = new Map(typeof parent === 'object' && parent ? ownFields(parent) : []);
  declaredOn.set(prototype, own);
  return own;
}

/** The column of a field that is known to have one: a reference, or what is filtered by. */
export function columnOf({ name, column }: Field): string {
  if (column === null) throw new BrokenInvariant(`the field ${name} has a column`);
  return column;
}

/** The resource a reference leads to. */
export function targetOf({ name, target }: Field): ResourceDefinition {
  if (target === null) throw new BrokenInvariant(`the field ${name} is a reference`);
  return target();
}

/** Fields of a schema class in order of declaration, those of its ancestors first. */
export function fieldsOf(schema: SchemaClass): readonly Field[] {
  return [...ownFields(prototypeOf(schema)).values()];
}

/** Whether a value is a class of fields. */
export const isSchema = (value: unknown): value is SchemaClass =>
  typeof value === 'function' &&
  typeof value.prototype === 'object' &&
  ownFields(prototypeOf(value)).size > 0;

/** Fields by name, each as its decorator makes it: for those that are not declared one by one. */
export function declareFields(
  named: readonly (readonly [name: string, decorator: PropertyDecorator])[],
): readonly Field[] {
  class Declared {}
  for (const [name, decorator] of named) decorator(Declared.prototype, name);
  return fieldsOf(Declared);
}

/** Adds the fields of a class or of a list to a schema, behind the field `after` or at its end. */
export const Includes =
  (part: SchemaClass | readonly Field[], after?: string): ClassDecorator =>
  (schema) => {
    const prototype = prototypeOf(schema);
    const own = ownFields(prototype);
    const declared = [...own.values()];
    const place = after === undefined ? declared.length : [...own.keys()].indexOf(after) + 1;
    if (place === 0 && after !== undefined) {
      throw new BrokenInvariant(`${schema.name} has the field ${after}`);
    }
    const added = typeof part === 'function' ? fieldsOf(part) : part;
    own.clear();
    for (const field of declared.toSpliced(place, 0, ...added)) own.set(field.name, field);
    for (const field of added) Reads(field)(prototype, field.name);
  };

/** What a field is unless its declaration says otherwise. */
const PLAIN = {
  formerName: null,
  computed: null,
  help: '',
  required: false,
  nullable: false,
  readOnly: false,
  writeOnly: false,
  immutable: false,
  internal: false,
  hidden: false,
  detailOnly: false,
  assumed: true,
  nullSaysNothing: false,
  choices: [],
  max: null,
  min: null,
  search: false,
  needs: null,
  unknown: null,
  index: true,
  columnDefault: null,
  anyShape: false,
  entries: false,
  options: null,
  optionsAt: null,
  examples: null,
  control: null,
  suggests: null,
  rows: null,
  schema: null,
} as const satisfies Partial<Field>;

/** Composes one property decorator; the decorators below are its only callers. */
function declare(
  kind: FieldKind,
  options: FieldOptions,
  target: Field['target'] = null,
): PropertyDecorator {
  return (prototype, property) => {
    const name = String(property);
    const field: Field = {
      ...PLAIN,
      name,
      kind,
      target,
      column: target ? `${name}_id` : name,
      label: labelOf(name),
      blank: !options.required,
      default: options.nullable ? null : defaultOf(kind),
      filter: kind !== 'json' && kind !== 'secret',
      onDelete: options.nullable ? 'SET NULL' : 'CASCADE',
      columnType: COLUMN_TYPES[kind],
      ...options,
    };
    ownFields(prototype).set(name, field);
    Reads(field)(prototype, property);
  };
}

/** One line of text; `max` counts characters. */
export const Char = (options: FieldOptions = {}): PropertyDecorator =>
  declare('string', { max: 512, ...options });
/** Text of any length. */
export const Text = (options: FieldOptions = {}): PropertyDecorator => declare('text', options);
export const Email = (options: FieldOptions = {}): PropertyDecorator =>
  declare('email', { max: 254, ...options });
/** A 32-bit integer, unless its column is `bigint`. */
export const Integer = (options: FieldOptions = {}): PropertyDecorator =>
  declare('integer', options);
export const Float = (options: FieldOptions = {}): PropertyDecorator => declare('float', options);
export const Bool = (options: FieldOptions = {}): PropertyDecorator => declare('boolean', options);
export const DateTime = (options: FieldOptions = {}): PropertyDecorator =>
  declare('datetime', { nullable: true, ...options });
/** One of a fixed set of values, shown with labels in OPTIONS and forms. */
export const Choices = (
  choices: readonly Choice[],
  options: FieldOptions = {},
): PropertyDecorator =>
  declare(typeof choices.find(([value]) => value !== '')?.[0] === 'number' ? 'integer' : 'choice', {
    ...options,
    choices,
  });
/** A JSON object (or array), stored as sent. */
export const Json = (options: FieldOptions = {}): PropertyDecorator =>
  declare('json', { default: {}, ...options });
/** The entries of a bulk request; a JSON text in forms. */
export const Entries = (options: FieldOptions = {}): PropertyDecorator =>
  declare('json', {
    required: true,
    default: [],
    column: null,
    filter: false,
    entries: true,
    ...options,
  });
/** Variables: text holding a JSON or YAML object; an object sent as JSON is stored as its text. */
export const Variables = (options: FieldOptions = {}): PropertyDecorator =>
  declare('variables', options);
/** A secret: encrypted at rest, shown as `$encrypted$`; that word sent back keeps the value. */
export const SecretText = (options: FieldOptions = {}): PropertyDecorator =>
  declare('secret', options);
/** A reference to another resource by id. The column is `<name>_id`. */
export const Reference = (
  target: () => ResourceDefinition,
  options: FieldOptions = {},
): PropertyDecorator => declare('reference', options, target);
/** Several objects of another resource, as a list of ids; for request bodies only. */
export const References = (
  target: () => ResourceDefinition,
  options: FieldOptions = {},
): PropertyDecorator =>
  declare('json', { default: [], ...options, column: null, filter: false }, target);
