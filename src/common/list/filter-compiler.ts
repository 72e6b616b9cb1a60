import { and, FALSE, ident, not, or, sql, TRUE, type Sql } from '../../database/sql.js';
import { permit, type Actor } from '../access.js';
import { hasValue, valueOf } from '../fields/column-types.js';
import { Char, columnOf, declareFields, type Field } from '../fields/field.js';
import { BadRequest, Forbidden } from '../errors/errors.js';
import { existing } from '../invariants.js';
import { findResource, type ResourceDefinition } from '../resource/define-resource.js';
import type { ExpressionParts } from '../resource/expression.js';
import { follow } from '../resource/followed-relations.js';
import { compareColumn, containsTerm, isNullWord, toBooleanWord } from './lookups.js';
import { parseCondition, searchTerms, type Condition, type ListQuery } from './query.js';
import { append } from '../records.js';

/** Maximum number of relations in a filter or an order. */
export const MAX_RELATIONS = 4;

/**
 * Returns the condition for rows of `definition` under `alias` on which the caller holds a role, or
 * null. Implemented by the access module.
 */
export type RoleLevel = (definition: ResourceDefinition, alias: string, role: string) => Sql | null;

interface Scope {
  definition: ResourceDefinition;
  alias: string;
  /** Types on the path to this type. A filter that continues beyond one of them again is rejected. */
  visited: readonly string[];
}

/**
 * Compiles a parsed query to one condition in parentheses, which the caller combines with the
 * permission predicate by AND. Every followed relation is limited to rows that the caller can read, so
 * that a filter never reveals what a read would not.
 */
export class FilterCompiler {
  private aliases = 0;
  /** True if a condition concerns related rows: the database may have to read every row. */
  get followsRelations(): boolean {
    return this.aliases > 0;
  }

  constructor(
    private readonly actor: Actor,
    private readonly roleLevel: RoleLevel,
  ) {}

  compile(definition: ResourceDefinition, alias: string, query: ListQuery): Sql {
    const scope: Scope = { definition, alias, visited: [definition.type] };
    const positive = query.all.filter((condition) => !condition.negated);
    const negative = query.all.filter((condition) => condition.negated);
    const parts = [
      this.group(scope, positive),
      ...negative.map((condition) => this.single(scope, condition)),
      ...query.chained.map((condition) => this.single(scope, condition)),
      ...query.search.map((term) => this.search(scope, term)),
      ...query.expressions.map(
        (text) =>
          definition.expression?.compile(text, alias, this.parts(definition, alias)) ?? TRUE,
      ),
    ];
    if (query.any.length > 0) {
      parts.push(or(...query.any.map((condition) => this.single(scope, condition))));
    }
    if (query.types.length > 0) parts.push(typeCondition(scope, query.types));
    if (query.roleLevel !== null) parts.push(this.byRole(scope, query.roleLevel));
    return and(...parts);
  }

  /** Returns the parts that expressions on a row are compiled from. */
  parts(definition: ResourceDefinition, alias: string): ExpressionParts {
    const scope: Scope = { definition, alias, visited: [definition.type] };
    return {
      condition: (key, value) => this.single(scope, parseCondition(key, value).condition),
      search: (words) => this.searchWords(scope, words),
    };
  }

  private byRole({ definition, alias }: Scope, role: string): Sql {
    const condition = this.roleLevel(definition, alias, role);
    if (condition === null) {
      throw new BadRequest(
        'Cannot apply role_level filter to this list because its model does not use roles for access control.',
      );
    }
    return condition;
  }

  private single(scope: Scope, condition: Condition): Sql {
    const compiled = this.group(scope, [condition]);
    return condition.negated ? isNotTrue(compiled) : compiled;
  }

  /** Compiles conditions on one row. Conditions through the same relation share one EXISTS. */
  private group(scope: Scope, conditions: readonly Condition[]): Sql {
    const parts: Sql[] = [];
    const nested = new Map<string, Condition[]>();
    for (const condition of conditions) {
      const step = this.step(scope, condition);
      if ('follow' in step) {
        const { follow: name, rest } = step;
        append(nested, name, { ...condition, path: rest });
      } else {
        parts.push(step);
      }
    }
    for (const [name, rest] of nested) parts.push(this.byRelation(scope, name, rest));
    return and(...parts);
  }

  /** Returns a complete comparison, or the name of the relation to follow and the rest of the path. */
  private step(scope: Scope, condition: Condition): Sql | { follow: string; rest: string[] } {
    const { definition, alias } = scope;
    const [name = '', ...rest] = resolvePath(definition, condition.path);
    const relation = { follow: name, rest };
    if (name === 'type' && rest.length === 0) return this.byType(scope, condition);
    if (isRelation(definition, name)) return relation;
    const field = filterableField(definition, name);
    if (rest.length === 0) {
      if (condition.lookup === 'search') {
        if (field.target) return relation;
        throw new BadRequest(`${name} is not searchable`);
      }
      return compareColumn(field, valueOf(field, alias), condition);
    }
    if (!field.target) throw new BadRequest(`No related model for field ${name}.`);
    if (rest.length === 1 && (rest[0] === 'id' || rest[0] === 'pk')) {
      return compareColumn(field, valueOf(field, alias), condition);
    }
    return relation;
  }

  /** Compares the type of a row, for `not__type` and `or__type`. */
  private byType({ definition, alias }: Scope, condition: Condition): Sql {
    const { lookup, value } = condition;
    if (lookup === 'exact' || lookup === 'in') assertTypes(value.split(','));
    const type = definition.variants ? ident(alias, 'type') : sql`${definition.type}::text`;
    return compareColumn(TYPE_FIELD, type, condition);
  }

  private byRelation(scope: Scope, name: string, conditions: readonly Condition[]): Sql {
    const { definition, alias, visited } = scope;
    const relation = follow(definition, name);
    if (!relation) throw new BadRequest(`No related model for field ${name}.`);
    const target = relation.target();
    if (visited.includes(target.type) && conditions.some(({ path }) => path.length > 1)) {
      throw new BadRequest(`Loops not allowed in filters, detected on field ${name}.`);
    }
    if (visited.length > MAX_RELATIONS) {
      throw new BadRequest(`A filter may follow at most ${MAX_RELATIONS} relations.`);
    }
    const related = `f${++this.aliases}`;
    const inner: Scope = { definition: target, alias: related, visited: [...visited, target.type] };
    const ends = conditions.map(nullAsCheck);
    const withLookup = (lookup: string): Condition[] =>
      ends.filter((condition) => condition.path.length === 0 && condition.lookup === lookup);
    const searches = withLookup('search');
    const nullChecks = withLookup('isnull');
    const others = ends.filter(
      (condition) => !searches.includes(condition) && !nullChecks.includes(condition),
    );
    const exists = (...matching: Sql[]): Sql => {
      const readable = permit(target.policy, 'read', related, this.actor);
      const { from, where } = relation.join(alias, related);
      const condition = and(where, target.partCondition(related), readable, ...matching);
      return target.stored && condition !== FALSE
        ? sql`EXISTS (SELECT 1 FROM ${from} WHERE ${condition})`
        : FALSE;
    };
    const parts = nullChecks.map(({ value }) =>
      toBooleanWord(value) ? isNotTrue(exists()) : exists(),
    );
    if (others.length + searches.length > 0) {
      const matching = this.group(inner, others.map(byId));
      const found = searches.map(({ value }) => this.searchWords(inner, value));
      parts.push(exists(matching, found.length === 0 ? TRUE : or(...found)));
    }
    return and(...parts);
  }

  private searchWords(scope: Scope, words: string): Sql {
    return and(...searchTerms(words).map((term) => this.search(scope, term)));
  }

  private search({ definition, alias }: Scope, term: string): Sql {
    return or(
      ...searchFields(definition).map((field) => containsTerm(ident(alias, columnOf(field)), term)),
      definition.alsoSearched.condition(alias, term, this.actor),
    );
  }
}

/**
 * Negates a condition that can be null. COALESCE makes PostgreSQL evaluate the condition per row: with
 * an anti-join it would compare each row with each related row.
 */
const isNotTrue = (condition: Sql): Sql => not(sql`COALESCE(${condition}, FALSE)`);

/** Adds the id to a condition whose path ended on a relation. */
const byId = (condition: Condition): Condition =>
  condition.path.length === 0 ? { ...condition, path: ['id'] } : condition;

export const searchFields = (definition: ResourceDefinition): readonly Field[] =>
  definition.fields.filter((field) => field.search && field.column !== null);

const TYPE_FIELD = existing(declareFields({ type: Char() })[0], 'the field that was declared');

/** @throws BadRequest for an unknown type */
function assertTypes(types: readonly string[]): void {
  const unknown = types.find((type) => !findResource(type));
  if (unknown !== undefined) throw new BadRequest(`"${unknown}" is not a type of objects.`);
}

function typeCondition({ definition, alias }: Scope, types: readonly string[]): Sql {
  assertTypes(types);
  const variants = definition.variants?.().map((variant) => variant.type);
  if (variants) {
    const matchingTypes = types.filter((type) => variants.includes(type));
    return sql`${ident(alias, 'type')} = ANY(${matchingTypes}::text[])`;
  }
  return types.includes(definition.type) ? TRUE : FALSE;
}

/** Converts `relation=null` to a check for the existence of a related row. */
const nullAsCheck = (condition: Condition): Condition =>
  condition.path.length === 0 && condition.lookup === 'exact' && isNullWord(condition.value)
    ? { ...condition, lookup: 'isnull', value: 'true' }
    : condition;

export function resolveName(definition: ResourceDefinition, name: string): string {
  return name === 'pk' ? 'id' : (definition.aliases[name] ?? name);
}

/**
 * Returns a path with the resource's own names. An alias can replace two steps, such as
 * `content_type__model`.
 */
export function resolvePath(definition: ResourceDefinition, path: readonly string[]): string[] {
  const [first = '', second, ...others] = path;
  const pair = definition.aliases[`${first}__${second}`];
  if (pair !== undefined) return [pair, ...others];
  return [resolveName(definition, first), ...path.slice(1)];
}

/** Returns true for a declared relation, and for a name that leads to other rows and is not a field. */
export function isRelation(definition: ResourceDefinition, name: string): boolean {
  if (Object.hasOwn(definition.relations, name)) return true;
  return !fieldOrSecret(definition, name) && follow(definition, name) !== undefined;
}

/**
 * Returns the fields of that name in the list and its types. A secret of one type is a secret of the
 * whole list.
 */
const allNamed = (definition: ResourceDefinition, name: string): Field[] =>
  [definition, ...(definition.variants?.() ?? [])].flatMap((kind) => kind.field(name) ?? []);

const fieldOrSecret = (definition: ResourceDefinition, name: string): boolean =>
  definition.field(name) !== undefined || allNamed(definition, name).some(({ filter }) => !filter);

/** @throws BadRequest for an unknown field, Forbidden for a field that cannot be filtered by */
export function filterableField(definition: ResourceDefinition, name: string): Field {
  const field = definition.field(name);
  if (allNamed(definition, name).some(({ filter }) => !filter))
    throw new Forbidden(`Filtering on ${name} is not allowed.`);
  if (!field || field.internal || !hasValue(field)) {
    throw new BadRequest(`${definition.label.replaceAll(' ', '')} has no field named '${name}'`);
  }
  return field;
}
