import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { BadRequest } from '../common/errors/errors.js';
import { entryOf, itemAt } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { represent, type Representation } from '../common/resource/represent.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';

/** A group stands under each of its parents, so a small graph can be a huge tree. */
const MAX_ENTRIES = 10_000;

type Tree = Representation & { children: Tree[] };

/** The groups of an inventory with their subgroups inside. */
@Injectable()
export class InventoryTree {
  constructor(
    private readonly database: Database,
    private readonly resources: ResourceService,
  ) {}

  /** Root groups, each with `children`. @throws BadRequest when the tree would be too large */
  async of(inventory: Row, actor: Actor): Promise<Tree[]> {
    const rows = await this.database.rows<Row>(sql`
      SELECT * FROM groups WHERE inventory_id = ${inventory.id} ORDER BY name, id
      LIMIT ${MAX_ENTRIES + 1}`);
    assertSize(rows.length);
    const edges = await this.database.rows<{ parent_id: number; child_id: number }>(sql`
      SELECT parent_id, child_id FROM group_children
      WHERE parent_id = ANY(${rows.map(({ id }) => id)}::int[])`);
    const context = this.resources.representContext(actor, false);
    return nest(await represent(resource('group'), rows, context), edges);
  }
}

function nest(
  groups: readonly Representation[],
  edges: readonly { parent_id: number; child_id: number }[],
): Tree[] {
  const position = new Map(groups.map(({ id }, index) => [id, index]));
  const childrenOf = new Map<number, number[]>(groups.map(({ id }) => [id as number, []]));
  for (const { parent_id, child_id } of edges) childrenOf.get(parent_id)?.push(child_id);
  const hasParent = new Set(edges.map(({ child_id }) => child_id));
  let entries = 0;
  const grow = (id: number): Tree => {
    assertSize((entries += 1));
    const placeOf = (group: number): number => entryOf(position, group);
    const ids = entryOf(childrenOf, id).sort((a, b) => placeOf(a) - placeOf(b));
    return { ...itemAt(groups, placeOf(id)), children: ids.map(grow) };
  };
  return groups.flatMap(({ id }) => (hasParent.has(id as number) ? [] : [grow(id as number)]));
}

function assertSize(entries: number): void {
  if (entries > MAX_ENTRIES) {
    throw new BadRequest(
      `The tree has more than ${MAX_ENTRIES} entries. Use root_groups/ and the children/ of groups.`,
    );
  }
}
