import { and, ident, sql } from '../../database/sql.js';
import { columnOf, targetOf, type Field } from '../fields/field.js';
import {
  findResource,
  resources,
  type ManyToMany,
  type Relation,
  type ResourceDefinition,
} from './define-resource.js';
import { relationCondition } from './relation-condition.js';
import { distinct, joinedAlong, joinedBy, reversed, type Joined, type JoinStep } from './joins.js';

/** Relation that filters, searches and ordering can traverse. */
export interface FollowedRelation {
  name: string;
  target: () => ResourceDefinition;
  /** Returns the join of rows of the target, under `alias`, to a row under `source`. */
  join: (source: string, alias: string) => Joined;
  /** True if the relation has at most one row, so that lists can be ordered by the row's fields. */
  isSingle: boolean;
}

/** Declared connection from one resource to another: a reference, its reverse, or a link table. */
interface Edge {
  name: string;
  target: ResourceDefinition;
  steps: readonly JoinStep[];
  /** True if representations omit the edge. The target of a hidden edge has no reverse relation. */
  hidden?: boolean;
}

/**
 * Returns the name without underscores, for comparison: clients write `jobtemplates` and `job_templates`.
 */
const keyOf = (name: string): string => name.replaceAll('_', '');

const known = new WeakMap<ResourceDefinition, ReadonlyMap<string, FollowedRelation>>();

/**
 * Returns the relations of a resource, by name without underscores. Declared names take precedence. Other
 * relations are derived from declarations: the types of a mixed list and the relations that these types
 * share, the roles of an object, and the reverse of every reference and link of another resource
 * (docs/decisions/0150-relations.md).
 */
export function followedRelations(
  definition: ResourceDefinition,
): ReadonlyMap<string, FollowedRelation> {
  const found = known.get(definition);
  if (found) return found;
  const relations = new Map<string, FollowedRelation>();
  const all = [
    ...declaredRelations(definition),
    ...kindRelations(definition),
    ...sharedEdges(definition).map(relationAlong),
    ...roleRelations(definition),
    ...reverseRelations(definition),
    ...listsOf(definition).flatMap((list) => [
      ...Object.entries(list.relations).map(([name, relation]) => declaredRelation(name, relation)),
      ...sharedEdges(list).map(relationAlong),
    ]),
  ];
  for (const relation of all) {
    const key = keyOf(relation.name);
    if (!relations.has(key)) relations.set(key, relation);
  }
  const aliases = [definition, ...listsOf(definition)].flatMap((list) =>
    Object.entries(list.aliases),
  );
  for (const [name, targetName] of aliases) {
    const relation = relations.get(keyOf(targetName));
    if (relation && !relations.has(keyOf(name))) relations.set(keyOf(name), { ...relation, name });
  }
  known.set(definition, relations);
  return relations;
}

/** Returns the relation of a name; undefined for a plain field and for an unknown name. */
export function follow(definition: ResourceDefinition, name: string): FollowedRelation | undefined {
  return followedRelations(definition).get(keyOf(name));
}

/** Returns true if clients can use the reference, because its column is visible. */
const isReference = (field: Field): boolean =>
  field.target !== null && !field.internal && field.column !== null && field.filter;

const declaredRelations = (definition: ResourceDefinition): FollowedRelation[] => [
  ...Object.entries(definition.relations).map(([name, relation]) =>
    declaredRelation(name, relation),
  ),
  ...definition.fields.filter(isReference).map((field) => ({
    ...relationAlong(edgeOf(definition, field)),
    target: () => targetOf(field),
  })),
];

function declaredRelation(name: string, relation: Relation): FollowedRelation {
  const { target } = relation;
  if (relation.kind === 'many-to-many') return relationAlong(linkEdge(name, relation));
  return {
    name,
    target,
    join: (source, alias) =>
      joinedBy(target(), alias, relationCondition(relation, ident(source, 'id'), alias)),
    isSingle: relation.kind === 'computed' && relation.single === true,
  };
}

/** Returns true if rows of `inner` can be rows of `other`. */
const isWithin = (inner: ResourceDefinition, other: ResourceDefinition): boolean =>
  inner.table === other.table && (inner.type === other.type || other.discriminator === undefined);

const kindsOf = (definition: ResourceDefinition): readonly ResourceDefinition[] =>
  definition.variants
    ? resources().filter(
        ({ table, discriminator }) => table === definition.table && discriminator !== undefined,
      )
    : [];

/**
 * Returns relations between a row of a mixed list and the same row as its own type (`job__limit`), in
 * both directions.
 */
function kindRelations(definition: ResourceDefinition): FollowedRelation[] {
  const toKind = (name: string, target: ResourceDefinition): FollowedRelation => ({
    name,
    target: () => target,
    join: (source, alias) =>
      joinedBy(target, alias, sql`${ident(alias, 'id')} = ${ident(source, 'id')}`),
    isSingle: true,
  });
  return [
    ...kindsOf(definition).map((kind) => toKind(kind.type, kind)),
    ...listsOf(definition).map((list) => toKind(`${list.type}_ptr`, list)),
  ];
}

/** Returns the mixed lists that contain a type. */
const listsOf = ({ table, discriminator }: ResourceDefinition): readonly ResourceDefinition[] =>
  discriminator === undefined
    ? []
    : resources().filter((list) => list.table === table && list.variants !== undefined);

/**
 * Returns the edges of a list's types, merged by name. Omits the names of the list's own edges, and names
 * whose target differs between types.
 */
function sharedEdges(definition: ResourceDefinition): Edge[] {
  const edges = new Map<string, Edge>();
  const ownNames = new Set(edgesOf(definition).map(({ name }) => name));
  const ambiguous = new Set<string>();
  for (const kind of kindsOf(definition)) {
    for (const edge of [...edgesOf(kind), ...childEdges(kind), ...aliasedEdges(kind)]) {
      const earlier = edges.get(edge.name);
      if (ownNames.has(edge.name)) continue;
      if (earlier && earlier.target !== edge.target) {
        // Ambiguous: the target differs between types. Clients can write `job__events`.
        ambiguous.add(edge.name);
        continue;
      }
      const steps = distinct([...(earlier?.steps ?? []), ...edge.steps]);
      edges.set(edge.name, { ...edge, steps });
    }
  }
  return [...edges.values()].filter(({ name }) => !ambiguous.has(name));
}

const edgeOf = ({ table }: ResourceDefinition, field: Field): Edge => ({
  name: field.name,
  target: targetOf(field),
  steps: [{ kind: 'forward', table, column: columnOf(field) }],
  hidden: field.hidden ?? false,
});

const linkEdge = (name: string, link: ManyToMany): Edge => ({
  name,
  target: link.target(),
  steps: [{ ...link, kind: 'link' }],
});

/** Returns the references and link tables that a resource declares. */
const edgesOf = (definition: ResourceDefinition): Edge[] => [
  ...definition.fields.filter(isReference).map((field) => edgeOf(definition, field)),
  ...Object.entries(definition.relations).flatMap(([name, relation]): Edge[] =>
    relation.kind === 'many-to-many' ? [linkEdge(name, relation)] : [],
  ),
];

const childEdges = ({ relations }: ResourceDefinition): Edge[] =>
  Object.entries(relations).flatMap(([name, relation]): Edge[] => {
    if (relation.kind !== 'has-many') return [];
    const target = relation.target();
    const column = target.field(relation.field)?.column ?? relation.field;
    return [{ name, target, steps: [{ kind: 'back', table: target.table, column }] }];
  });

const aliasedEdges = (definition: ResourceDefinition): Edge[] =>
  Object.entries(definition.aliases).flatMap(([name, targetName]) =>
    edgesOf(definition)
      .filter((edge) => edge.name === targetName)
      .map((edge) => ({ ...edge, name })),
  );

/** Returns relations to the roles of an object, by role field: `admin_role__members`. */
function roleRelations(definition: ResourceDefinition): FollowedRelation[] {
  const role = findResource('role');
  const ofObject = role?.relations[definition.type];
  const field = role?.field('role_field');
  if (!role || !field || ofObject?.kind !== 'computed' || !ofObject.back) return [];
  const { back } = ofObject;
  return definition.roles.map((declared) => ({
    name: declared.field,
    target: () => role,
    join: (source, alias) => {
      const isField = sql`${ident(alias, columnOf(field))} = ${declared.field}`;
      return joinedBy(role, alias, and(back(ident(source, 'id'), alias), isField));
    },
    isSingle: true,
  }));
}

/**
 * Returns the reverse of the edges from other resources to this resource. `jobs` returns the jobs that
 * reference the row through any field without a declared reverse relation; `job_webhook_credential` returns
 * the jobs that reference the row by `webhook_credential`.
 */
function reverseRelations(definition: ResourceDefinition): FollowedRelation[] {
  const declared = Object.values(definition.relations).flatMap((relation) =>
    relation.kind === 'has-many' ? [`${relation.target().type}.${relation.field}`] : [],
  );
  return resources().flatMap((from) => {
    const targetsResource = (edge: Edge): boolean =>
      isWithin(definition, edge.target) && edge.hidden !== true;
    const ownEdges = edgesOf(from).filter(targetsResource);
    const shared = sharedEdges(from)
      .filter(targetsResource)
      .map((edge) => ({ ...edge, steps: edge.steps.filter(({ kind }) => kind !== 'back') }))
      .filter(({ steps }) => steps.length > 0);
    const back = (name: string, edges: readonly Edge[]): FollowedRelation =>
      relationAlong({
        name,
        target: from,
        steps: distinct(edges.flatMap(({ steps }) => steps.map(reversed))),
      });
    const undeclared = ownEdges.filter(({ name }) => !declared.includes(`${from.type}.${name}`));
    const merged = ownEdges.length > 0 ? undeclared : shared;
    return [
      ...(merged.length > 0 ? [back(from.path, merged)] : []),
      ...[...ownEdges, ...shared].map((edge) => back(`${from.type}_${edge.name}`, [edge])),
    ];
  });
}

const relationAlong = ({ name, target, steps }: Edge): FollowedRelation => ({
  name,
  target: () => target,
  join: (source, alias) => joinedAlong(steps, target, source, alias),
  isSingle: steps.length === 1 && steps[0]?.kind === 'forward',
});
