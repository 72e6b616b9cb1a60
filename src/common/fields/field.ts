import type { ProviderClass } from '../declared-providers.service.js';
import type { Sql } from '../../database/sql.js';
import type { OnDelete } from '../../database/table.js';
import { BrokenInvariant, existing } from '../invariants.js';
import { prototypeOf } from '../records.js';
import { COLUMN_TYPES, type ColumnType } from './column-types.js';
import type { FormRows } from './form-rows.js';
import type { JsonSchema } from './json-schema.js';
import { labelOf } from './label.js';
import { defaultOf } from './lenient-reader.js';
import { Reads } from './reads.decorator.js';
import { Stored } from './stored.decorator.js';
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

/** Declaration of one field of a resource, used by all code that handles resources. */
export interface Field {
  /** Name in JSON, in filters and in forms. */
  name: string;
  /** Former name that older clients still send. */
  formerName: string | null;
  kind: FieldKind;
  /** Column of the table; null for a field that is computed or stored elsewhere. */
  column: string | null;
  /** SQL expression of a computed field over a row, for filtering and ordering lists. */
  computed?: (alias: string) => Sql;
  label: string;
  help: string;
  required: boolean;
  /** Group of fields of which a create request must contain at least one. */
  oneOf?: string;
  nullable: boolean;
  /** True: returned, never accepted. */
  readOnly: boolean;
  /** True: accepted, never returned. */
  writeOnly?: boolean;
  /** True: accepted on creation only; updates ignore the field without an error. */
  immutable?: boolean;
  /** True: clients cannot read the column or filter by it. */
  internal?: boolean;
  /** True: filterable and summarized, but not a key of the representation itself. */
  hidden?: boolean;
  /** True: returned for a single object only, not in lists. */
  detailOnly?: boolean;
  blank: boolean;
  default: unknown;
  /** True: an omitted field gets the default. False: the default is only displayed. */
  usesDefault: boolean;
  /** True: null is treated as not sent, because clients send null for fields that the user left unset. */
  nullMeansAbsent?: boolean;
  choices: readonly Choice[];
  max: number | null;
  min: number | null;
  /** False: filtering and ordering by the field returns 403. */
  filter: boolean;
  search?: boolean;
  /** Target of a reference, or of a list of references. */
  target: (() => ResourceDefinition) | null;
  onDelete: OnDelete;
  /** Action on the referenced object that the caller must be permitted, in order to set the reference. */
  needs: string | null;
  /** Message if the permission of `needs` is missing. */
  refusal?: string;
  /** Message for an id without an object, if it differs from the default message. */
  unknown?: (id: unknown) => string;
  /** Index of a reference: all rows, only rows with a value, or none if another index suffices. */
  index: boolean | 'where set';
  /** True: part of the primary key, besides the id. */
  key?: boolean;
  /** PostgreSQL type of the column. */
  columnType: ColumnType;
  /** Default of the column, if it differs from `default`: a number, or SQL. */
  columnDefault?: number | string;
  /** True: JSON of any shape is accepted, because the resource validates it with its own messages. */
  anyShape?: boolean;
  /** True: a JSON list whose entries are validated one by one, each with its own errors. */
  entries?: boolean;
  /** Additional members of the description in OPTIONS, such as the schema of the value. */
  options?: () => Readonly<Record<string, unknown>>;
  /** Provider of members of the OPTIONS description that depend on settings. */
  optionsFrom?: ProviderClass<FieldDescriber>;
  /** Example values by title; forms show them below the control. */
  examples?: () => Readonly<Record<string, unknown>>;
  /**
   * Form control, if it differs from the default of the kind; `line`: a text of one line; `none`: forms
   * do not offer the field.
   */
  control?: 'date' | 'time' | 'zone' | 'line' | 'lines' | 'none';
  /** Suggested texts in forms; other texts are accepted too. */
  suggestions?: () => readonly string[];
  /** Form controls for the entries of a JSON list; without them, the form shows one JSON document. */
  rows?: FormRows;
  /** JSON schema of the value, for kinds that do not imply one, such as JSON fields. */
  schema?: JsonSchema;
}

/** Provider of OPTIONS members that depend on settings. */
export interface FieldDescriber {
  options(): Promise<Readonly<Record<string, unknown>>>;
}

export type FieldOptions = Partial<Omit<Field, 'name' | 'kind' | 'target'>>;

declare const REFERENCE: unique symbol;

/** Id of a referenced object. The mark exists for the compiler only; any number is assignable. */
export type Reference = number & { readonly [REFERENCE]?: never };

/** Column name of a property: `inventory_id` for a reference `inventory`. */
export type ColumnName<
  Name extends string,
  Value,
> = typeof REFERENCE extends keyof NonNullable<Value> ? `${Name}_id` : Name;

/** Type of a property's value, without the mark of references. */
export type Unmarked<Value> = typeof REFERENCE extends keyof NonNullable<Value>
  ? number | Extract<Value, null>
  : Value;

/** Definitions of resources by type. `defineResource` registers them. */
export const definitions = new Map<string, ResourceDefinition>();

/** Returns the definition of a type, after all resources are defined. */
export const definitionOf = (type: string): ResourceDefinition =>
  existing(definitions.get(type), `there is a resource of type ${type}`);

const declaredOn = new WeakMap<object, Map<string, Field>>();

/** Class whose properties are the fields of a resource or of a body. */
export type SchemaClass<T extends object = object> = abstract new (...args: never[]) => T;

/** Returns the fields of a class by name, including the fields of its ancestors. */
export function fieldsByName(prototype: object): Map<string, Field> {
  const known = declaredOn.get(prototype);
  if (known) return known;
  const parent: unknown = Object.getPrototypeOf(prototype);
  const fields = new Map(typeof parent === 'object' && parent ? fieldsByName(parent) : []);
  declaredOn.set(prototype, fields);
  return fields;
}

/** Returns the column of a field that must have one, such as a reference. */
export function columnOf({ name, column }: Field): string {
  if (column === null) throw new BrokenInvariant(`the field ${name} has a column`);
  return column;
}

/** Returns the resource of a reference. */
export function targetOf({ name, target }: Field): ResourceDefinition {
  if (target === null) throw new BrokenInvariant(`the field ${name} is a reference`);
  return target();
}

/** Returns the fields of a schema class in order of declaration, with those of its ancestors first. */
export function fieldsOf(schema: SchemaClass): readonly Field[] {
  return [...fieldsByName(prototypeOf(schema)).values()];
}

/** Returns true if the value is a class with fields. */
export const isSchema = (value: unknown): value is SchemaClass =>
  typeof value === 'function' &&
  typeof value.prototype === 'object' &&
  fieldsByName(prototypeOf(value)).size > 0;

/** Returns fields from names and decorators, for fields that no class declares. */
export function declareFields(
  named: Readonly<Record<string, PropertyDecorator>>,
): readonly Field[] {
  class Declared {}
  for (const [name, decorator] of Object.entries(named)) decorator(Declared.prototype, name);
  return fieldsOf(Declared);
}

/** Adds the fields of a class or of a list to a schema, after the field `after` or at the end. */
export const Includes =
  (part: SchemaClass | readonly Field[], after?: string): ClassDecorator =>
  (schema) => {
    const prototype = prototypeOf(schema);
    const fields = fieldsByName(prototype);
    const declared = [...fields.values()];
    const index = after === undefined ? declared.length : [...fields.keys()].indexOf(after) + 1;
    if (index === 0 && after !== undefined) {
      throw new BrokenInvariant(`${schema.name} has the field ${after}`);
    }
    const added = typeof part === 'function' ? fieldsOf(part) : part;
    fields.clear();
    for (const field of declared.toSpliced(index, 0, ...added)) fields.set(field.name, field);
    for (const field of added) {
      Reads(field)(prototype, field.name);
      Stored(field)(prototype, field.name);
    }
  };

const FIELD_DEFAULTS = {
  formerName: null,
  help: '',
  required: false,
  nullable: false,
  readOnly: false,
  usesDefault: true,
  choices: [],
  max: null,
  min: null,
  needs: null,
  index: true,
} as const satisfies Partial<Field>;

/** Creates a property decorator. Called only by the decorators below. */
function declare(
  kind: FieldKind,
  options: FieldOptions,
  target: Field['target'] = null,
): PropertyDecorator {
  return (prototype, property) => {
    const name = String(property);
    const field: Field = {
      ...FIELD_DEFAULTS,
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
    fieldsByName(prototype).set(name, field);
    Reads(field)(prototype, property);
    Stored(field)(prototype, property);
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
/**
 * One of a fixed set of values, shown with labels in OPTIONS and forms. A choice with a default cannot be
 * blank.
 */
export const Choices = (
  choices: readonly Choice[],
  options: FieldOptions = {},
): PropertyDecorator =>
  declare(typeof choices.find(([value]) => value !== '')?.[0] === 'number' ? 'integer' : 'choice', {
    blank: !options.required && !options.default,
    ...options,
    choices,
  });
/** A JSON object (or array), stored as sent. */
export const Json = (options: FieldOptions = {}): PropertyDecorator =>
  declare('json', { default: {}, ...options });
/** Entries of a bulk request; JSON text in forms. */
export const Entries = (options: FieldOptions = {}): PropertyDecorator =>
  declare('json', {
    required: true,
    default: [],
    column: null,
    filter: false,
    entries: true,
    ...options,
  });
/** Variables: text with a JSON or YAML object. An object in a request is stored as JSON text. */
export const Variables = (options: FieldOptions = {}): PropertyDecorator =>
  declare('variables', options);
/** Secret: encrypted at rest, returned as `$encrypted$`. Sending `$encrypted$` keeps the stored value. */
export const SecretText = (options: FieldOptions = {}): PropertyDecorator =>
  declare('secret', options);
/** Reference by id to an object of the resource `type`. The column is `<name>_id`. */
export const Reference = (type: string, options: FieldOptions = {}): PropertyDecorator =>
  declare('reference', options, () => definitionOf(type));
/** List of ids of objects of another resource; for request bodies only. */
export const References = (type: string, options: FieldOptions = {}): PropertyDecorator =>
  declare('json', { default: [], ...options, column: null, filter: false }, () =>
    definitionOf(type),
  );
