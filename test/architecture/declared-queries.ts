/** Query parameters that the declaration of a resource permits for its list, with valid values. */
import { DomainError } from '../../src/common/errors/errors.js';
import { hasValue } from '../../src/common/fields/column-types.js';
import { targetOf, type Field } from '../../src/common/fields/field.js';
import { FilterCompiler } from '../../src/common/list/filter-compiler.js';
import { LOOKUPS, parseListQuery } from '../../src/common/list/query.js';
import type { ResourceDefinition } from '../../src/common/resource/define-resource.js';
import { CALLER } from './samples/actors.js';

/** A query parameter: name and value. */
export type Parameter = readonly [key: string, value: string];

/** Lookups of the contract, and `int`, which also serves as one: `forks__int=1`. */
const WORDS = [...LOOKUPS, 'int'];
const TEXT_KINDS = new Set(['string', 'text', 'choice', 'email', 'variables']);
const INSENSITIVE = new Set(['iexact', 'icontains', 'istartswith', 'iendswith', 'iregex']);

/** Returns a valid value of a field, as a row stores it. Its text is valid in a query. */
export function valueOf({ kind, choices }: Pick<Field, 'kind' | 'choices'>): unknown {
  if (choices.length > 0) return choices[0]?.[0];
  switch (kind) {
    case 'integer':
    case 'reference':
      return 1;
    case 'float':
      return 1.5;
    case 'boolean':
      return true;
    case 'datetime':
      return '2030-01-31T12:00:00Z';
    case 'json':
      return {};
    default:
      return 'x';
  }
}

function textFor(field: Field, lookup: string): string {
  if (lookup === 'isnull') return 'true';
  if (lookup === 'int') return '1';
  const text = field.kind === 'json' ? '{}' : String(valueOf(field));
  return lookup === 'in' ? `${text},${text}` : text;
}

/** Returns the fields that a list is filtered and ordered by (docs/contract/lists.md#filters). */
export function openFields(definition: ResourceDefinition): Field[] {
  // A field that one type excludes from filters is excluded from lists of several types.
  const kinds = [definition, ...(definition.variants?.() ?? [])];
  return definition.fields.filter(
    (field) =>
      !field.internal &&
      hasValue(field) &&
      kinds.every((kind) => kind.field(field.name)?.filter !== false),
  );
}

/** Returns true if the contract gives the field this lookup. */
function hasLookup({ kind, target }: Field, lookup: string): boolean {
  if (lookup === 'search') return target !== null;
  return !INSENSITIVE.has(lookup) || TEXT_KINDS.has(kind);
}

/**
 * Returns every field with every lookup.
 * @param way relations that lead to it, such as `organization__`
 */
export const ownFilters = (definition: ResourceDefinition, way = ''): Parameter[] =>
  openFields(definition).flatMap((field) =>
    WORDS.filter((lookup) => hasLookup(field, lookup)).map((lookup): Parameter => [
      `${way}${field.name}__${lookup}`,
      textFor(field, lookup),
    ]),
  );

/** Returns every related resource one step away, by every field and lookup, and everything two steps away. */
export const relatedFilters = (definition: ResourceDefinition): Parameter[] =>
  waysFrom(definition).flatMap(([name, target]): Parameter[] => {
    const further = waysFrom(target).filter(
      ([, { type }]) => type !== definition.type && type !== target.type,
    );
    return [
      [`${name}__isnull`, 'false'],
      [`${name}__search`, 'x'],
      ...ownFilters(target, `${name}__`).filter(([key]) => !key.endsWith('__search')),
      ...further.flatMap(([next]): Parameter[] => [
        [`${name}__${next}__isnull`, 'true'],
        [`${name}__${next}__search`, 'x'],
      ]),
    ];
  });

/** Returns the references and relations of a resource that filters follow. */
export const waysFrom = (definition: ResourceDefinition): [string, ResourceDefinition][] => [
  ...openFields(definition)
    .filter(({ target }) => target !== null)
    .map((field): [string, ResourceDefinition] => [field.name, targetOf(field)]),
  ...Object.entries(definition.relations).map(([name, relation]): [string, ResourceDefinition] => [
    name,
    relation.target(),
  ]),
];

/** Returns the names to order by: every field, and every field one reference away. */
export const orders = (definition: ResourceDefinition): string[] =>
  openFields(definition).flatMap((field) => [
    field.name,
    ...(field.target ? openFields(field.target()) : []).map(({ name }) => `${field.name}__${name}`),
  ]);

/**
 * Returns the filters that the compiler refuses although they are declared, or accepts although they are not.
 */
export function misjudged(definition: ResourceDefinition): string[] {
  const known = new Set(ownFilters(definition).map(([key]) => key));
  const compiler = new FilterCompiler(CALLER, () => null);
  return definition.fields.flatMap((field) =>
    WORDS.flatMap((lookup) => {
      const key = `${field.name}__${lookup}`;
      // A relation of the same name hides a field from filters.
      if (Object.hasOwn(definition.relations, field.name)) return [];
      const isTaken = takes(() =>
        compiler.compile(definition, 't', parseListQuery({ [key]: textFor(field, lookup) })),
      );
      return isTaken === known.has(key) ? [] : [key];
    }),
  );
}

function takes(compile: () => unknown): boolean {
  try {
    compile();
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

/** Splits a list into parts that fit one request. */
export const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  );
