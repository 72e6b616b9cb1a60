import { and, ident, sql } from '../../database/sql.js';
import { columnOf, targetOf, type Field } from '../fields/field.js';
import type { Relation, ResourceDefinition } from './define-resource.js';
import { findResource, resources } from './registry.js';
import { relationCondition } from './relation-condition.js';
import type { Link } from './select-rows.js';
import { distinct, joinedAlong, joinedBy, turned, type Joined, type Tie } from './ties.js';

/** A way from the rows of a resource to those of another, for filters, searches and orders. */
export interface Followed {
  name: string;
  target: () => ResourceDefinition;
  /** Returns what leads from a row under the alias `near` to rows of the target under `far`. */
  join: (near: string, far: string) => Joined;
  /** One row at most is at the end, so that a list can be ordered by its fields. */
  isSingle: boolean;
}

/** What a resource declares about another: a reference, or a link table. */
interface Edge {
  name: string;
  target: ResourceDefinition;
  ties: readonly Tie[];
  /** Not a key of representations: leads to its target, and not back. */
  hidden?: boolean;
}

/** Names are compared without underscores: clients write `jobtemplates` and `job_templates`. */
const keyOf = (name: string): string => name.replaceAll('_', '');

const known = new WeakMap<ResourceDefinition, ReadonlyMap<string, Followed>>();

/**
 * Returns the ways that lead from a resource, by name without underscores. The resource's own names win.
 * All others follow from declarations: the kinds of a list of several kinds and what these have in common,
 * the roles of an object, and the way back from every reference and link of another resource.
 */
export function waysFrom(definition: ResourceDefinition): ReadonlyMap<string, Followed> {
  const found = known.get(definition);
  if (found) return found;
  const ways = new Map<string, Followed>();
  const all = [
    ...declaredWays(definition),
    ...kindWays(definition),
    ...sharedEdges(definition).map(wayAlong),
    ...roleWays(definition),
    ...waysBack(definition),
    ...listsOf(definition).flatMap((list) => [
      ...Object.entries(list.relations).map(([name, relation]) => wayOf(name, relation)),
      ...sharedEdges(list).map(wayAlong),
    ]),
  ];
  for (const way of all) {
    const key = keyOf(way.name);
    if (!ways.has(key)) ways.set(key, way);
  }
  const aliases = [definition, ...listsOf(definition)].flatMap((one) =>
    Object.entries(one.aliases),
  );
  for (const [name, meant] of aliases) {
    const way = ways.get(keyOf(meant));
    if (way && !ways.has(keyOf(name))) ways.set(keyOf(name), { ...way, name });
  }
  known.set(definition, ways);
  return ways;
}

/** Returns the way of a name; undefined for a plain field and for an unknown name. */
export function follow(definition: ResourceDefinition, name: string): Followed | undefined {
  return waysFrom(definition).get(keyOf(name));
}

/** Returns true for a reference that clients know: its column says which object is meant. */
const isReference = (field: Field): boolean =>
  field.target !== null && !field.internal && field.column !== null && field.filter;

const declaredWays = (definition: ResourceDefinition): Followed[] => [
  ...Object.entries(definition.relations).map(([name, relation]) => wayOf(name, relation)),
  ...definition.fields
    .filter(isReference)
    .map((field) => ({ ...wayAlong(edgeOf(definition, field)), target: () => targetOf(field) })),
];

function wayOf(name: string, relation: Relation): Followed {
  const { target } = relation;
  if (relation.kind === 'many-to-many') return wayAlong(linkEdge(name, relation));
  return {
    name,
    target,
    join: (near, far) =>
      joinedBy(target(), far, relationCondition(relation, ident(near, 'id'), far)),
    isSingle: relation.kind === 'computed' && relation.single === true,
  };
}

/** Returns true where the rows of `one` are among the rows of `other`, or may be. */
const isWithin = (one: ResourceDefinition, other: ResourceDefinition): boolean =>
  one.table === other.table && (one.type === other.type || other.discriminator === null);

const kindsOf = (definition: ResourceDefinition): readonly ResourceDefinition[] =>
  definition.variants
    ? resources().filter(
        ({ table, discriminator }) => table === definition.table && discriminator !== null,
      )
    : [];

/** A row of several kinds is followed to the same row as its kind has it (`job__limit`), and back. */
function kindWays(definition: ResourceDefinition): Followed[] {
  const same = (name: string, target: ResourceDefinition): Followed => ({
    name,
    target: () => target,
    join: (near, far) => joinedBy(target, far, sql`${ident(far, 'id')} = ${ident(near, 'id')}`),
    isSingle: true,
  });
  return [
    ...kindsOf(definition).map((kind) => same(kind.type, kind)),
    ...listsOf(definition).map((list) => same(`${list.type}_ptr`, list)),
  ];
}

/** Returns the lists of several kinds that a kind is in. */
const listsOf = ({ table, discriminator }: ResourceDefinition): readonly ResourceDefinition[] =>
  discriminator === null
    ? []
    : resources().filter((one) => one.table === table && one.variants !== null);

/** What the kinds of a list have under one name. */
function sharedEdges(definition: ResourceDefinition): Edge[] {
  const edges = new Map<string, Edge>();
  const own = new Set(edgesOf(definition).map(({ name }) => name));
  const unclear = new Set<string>();
  for (const kind of kindsOf(definition)) {
    for (const edge of [...edgesOf(kind), ...childEdges(kind), ...aliasedEdges(kind)]) {
      const before = edges.get(edge.name);
      if (own.has(edge.name)) continue;
      if (before && before.target !== edge.target) {
        // The name says different things of different kinds: `job__events` says which.
        unclear.add(edge.name);
        continue;
      }
      edges.set(edge.name, { ...edge, ties: distinct([...(before?.ties ?? []), ...edge.ties]) });
    }
  }
  return [...edges.values()].filter(({ name }) => !unclear.has(name));
}

const edgeOf = ({ table }: ResourceDefinition, field: Field): Edge => ({
  name: field.name,
  target: targetOf(field),
  ties: [{ kind: 'forward', table, column: columnOf(field) }],
  hidden: field.hidden,
});

const linkEdge = (name: string, link: Link): Edge => ({
  name,
  target: link.target(),
  ties: [{ ...link, kind: 'link' }],
});

/** References and link tables that a resource declares. */
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
    return [{ name, target, ties: [{ kind: 'back', table: target.table, column }] }];
  });

const aliasedEdges = (definition: ResourceDefinition): Edge[] =>
  Object.entries(definition.aliases).flatMap(([name, meant]) =>
    edgesOf(definition)
      .filter((edge) => edge.name === meant)
      .map((edge) => ({ ...edge, name })),
  );

/** The roles of an object, by their fields: `admin_role__members`. */
function roleWays(definition: ResourceDefinition): Followed[] {
  const role = findResource('role');
  const ofObject = role?.relations[definition.type];
  const field = role?.field('role_field');
  if (!role || !field || ofObject?.kind !== 'computed' || !ofObject.back) return [];
  const { back } = ofObject;
  return definition.roles.map((declared) => ({
    name: declared.field,
    target: () => role,
    join: (near, far) => {
      const isField = sql`${ident(far, columnOf(field))} = ${declared.field}`;
      return joinedBy(role, far, and(back(ident(near, 'id'), far), isField));
    },
    isSingle: true,
  }));
}

/**
 * The ways back from what other resources declare. `jobs` leads to all jobs that refer to the row, by
 * whatever declares no way back of its own; `job_webhook_credential` to those that do so by one reference.
 */
function waysBack(definition: ResourceDefinition): Followed[] {
  const declared = Object.values(definition.relations).flatMap((relation) =>
    relation.kind === 'has-many' ? [`${relation.target().type}.${relation.field}`] : [],
  );
  const ways = resources().flatMap((from) => {
    const leadsHere = (edge: Edge): boolean =>
      isWithin(definition, edge.target) && edge.hidden !== true;
    const own = edgesOf(from).filter(leadsHere);
    const shared = sharedEdges(from)
      .filter(leadsHere)
      .map((edge) => ({ ...edge, ties: edge.ties.filter(({ kind }) => kind !== 'back') }))
      .filter(({ ties }) => ties.length > 0);
    const back = (name: string, edges: readonly Edge[]): Followed =>
      wayAlong({
        name,
        target: from,
        ties: distinct(edges.flatMap(({ ties }) => ties.map(turned))),
      });
    const free = own.filter(({ name }) => !declared.includes(`${from.type}.${name}`));
    const together = own.length > 0 ? free : shared;
    return [
      ...(together.length > 0 ? [back(from.path, together)] : []),
      ...[...own, ...shared].map((edge) => back(`${from.type}_${edge.name}`, [edge])),
    ];
  });
  return ways;
}

const wayAlong = ({ name, target, ties }: Edge): Followed => ({
  name,
  target: () => target,
  join: (near, far) => joinedAlong(ties, target, near, far),
  isSingle: ties.length === 1 && ties[0]?.kind === 'forward',
});
