import type { OpenAPIObject } from '@nestjs/swagger';
import { html, type Html, type HtmlValue } from '../common/pages/html.js';

/** A JSON schema of the document, as far as the reference shows it. */
export interface Schema {
  $ref?: string;
  /** Several: a value of any of these. */
  type?: string | readonly string[];
  format?: string;
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  examples?: readonly unknown[];
  default?: unknown;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: readonly Schema[];
  allOf?: readonly Schema[];
}

export const schemasOf = ({ components }: OpenAPIObject): Record<string, Schema> =>
  (components?.schemas ?? {}) as Record<string, Schema>;

export const schemaUrl = (name: string): string => `/api/docs/reference/schemas/${name}/`;

const MAX_CHOICES = 12;
/** Members of members are shown in one table, down to here. */
const MAX_DEPTH = 3;

/** What a value is, in a few words: `list of Team`, `text or null`. */
export function typeView(schema: Schema): Html {
  const types = typesOf(schema);
  return types.length > 1
    ? html`${separated(
        types.map((type) => typeView({ ...schema, type })),
        ' or ',
      )}`
    : html`${plainType(schema, types[0])}`;
}

const typesOf = ({ type = [] }: Schema): readonly string[] => [type].flat();

function plainType(
  { $ref, format, items, anyOf, allOf, additionalProperties }: Schema,
  type: string | undefined,
): HtmlValue {
  if ($ref) {
    const name = $ref.slice($ref.lastIndexOf('/') + 1);
    return html`<a href="${schemaUrl(name)}">${name}</a>`;
  }
  if (anyOf) return separated(anyOf.map(typeView), ' or ');
  if (allOf) {
    const parts = allOf.map((part) => (part.$ref ? typeView(part) : html`further members`));
    return separated(parts, ' with ');
  }
  switch (type) {
    case 'array':
      return html`list of ${items ? typeView(items) : 'anything'}`;
    case 'object':
      return objectType(additionalProperties);
    case 'string':
      return format === 'date-time' ? 'time (ISO 8601)' : 'text';
    case 'integer':
      return 'whole number';
    default:
      return type ?? 'anything';
  }
}

function objectType(others: Schema['additionalProperties']): HtmlValue {
  return typeof others === 'object' && Object.keys(others).length > 0
    ? html`object of ${typeView(others)}`
    : 'object';
}

const separated = (parts: readonly Html[], separator: string): HtmlValue =>
  parts.map((part, index) => html`${index > 0 && separator}${part}`);

/** Rows of a table: every member, those of inline objects with dotted names. */
export function memberTable(schema: Schema, label: string): Html | null {
  const rows = members(schema, '', 0);
  if (rows.length === 0) return null;
  return memberRows(rows, label);
}

/** The table around rows of `memberRow`. */
export const memberRows = (rows: readonly Html[], label: string): Html =>
  html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
    <table class="members">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Type</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;

function members(schema: Schema, prefix: string, depth: number): Html[] {
  if (schema.allOf) return schema.allOf.flatMap((part) => members(part, prefix, depth));
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = prefix + name;
    const isRequired = schema.required?.includes(name) ?? false;
    const isList = typesOf(member).includes('array');
    const inner = isList ? (member.items ?? {}) : member;
    const inside =
      depth < MAX_DEPTH && !inner.$ref
        ? members(inner, `${path}${isList ? '[]' : ''}.`, depth + 1)
        : [];
    return [memberRow(path, member, isRequired), ...inside];
  });
}

export const memberRow = (name: string, schema: Schema, isRequired: boolean): Html =>
  html`<tr>
    <th scope="row">
      <code>${name}</code>${isRequired && html`<span class="required" title="required"> *</span>`}
    </th>
    <td>${typeView(schema)}</td>
    <td>${schema.description} ${limits(schema)}</td>
  </tr>`;

function limits({ enum: values, default: value, ...schema }: Schema): HtmlValue {
  const notes: HtmlValue[] = [];
  if (values) {
    const shown = values.slice(0, MAX_CHOICES).map((one) => html`<code>${word(one)}</code> `);
    notes.push(html`One of ${shown}${values.length > MAX_CHOICES && '…'} `);
  }
  if (schema.const !== undefined) notes.push(html`Always <code>${word(schema.const)}</code>. `);
  if (value !== undefined) notes.push(html`Default <code>${word(value)}</code>. `);
  if (schema.maxLength !== undefined) notes.push(`At most ${schema.maxLength} characters. `);
  if (schema.minimum !== undefined) notes.push(`At least ${schema.minimum}. `);
  if (schema.maximum !== undefined) notes.push(`At most ${schema.maximum}. `);
  return notes.length > 0 && html`<small>${notes}</small>`;
}

const word = (value: unknown): string => (value === '' ? '""' : JSON.stringify(value));
