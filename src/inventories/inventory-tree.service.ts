import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { BadRequest } from '../common/errors/errors.js';
import { entryOf, itemAt } from '../common/invariants.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { represent, type Representation } from '../common/resource/representation.js';
import { RepresentContexts } from '../common/resource/represent-contexts.service.js';
import { GroupChildrenRepository, type GroupEdge } from './group-children.repository.js';
import { GroupsRepository } from './groups.repository.js';
import { MAX_VARIABLES_BYTES, tooLargeVariables } from './readable-variables.js';

/**
 * Maximum number of entries. A group appears below each of its parents, so a small graph can be a
 * huge tree.
 */
const MAX_ENTRIES = 10_000;
/** Maximum depth of a tree that can be serialized and parsed as JSON without a stack overflow. */
const MAX_LEVELS = 500;

type Tree = Representation & { children: Tree[] };

/** Returns the groups of an inventory as trees with their subgroups. */
@Injectable()
export class InventoryTree {
  constructor(
    private readonly groups: GroupsRepository,
    private readonly edges: GroupChildrenRepository,
    private readonly contexts: RepresentContexts,
  ) {}

  /**
   * Returns the root groups, each with `children`.
   *
   * @throws BadRequest if the tree is too large, VariablesError
   */
  async of(inventory: Row, actor: Actor): Promise<Tree[]> {
    if ((await this.groups.variablesBytes(inventory.id)) > MAX_VARIABLES_BYTES) {
      throw tooLargeVariables();
    }
    const rows = await this.groups.byName(inventory.id, MAX_ENTRIES + 1);
    assertSize(rows.length);
    const edges = await this.edges.edgesOf(rows.map(({ id }) => id));
    const context = this.contexts.of(actor, false);
    return nest(await represent(resource('group'), rows, context), edges);
  }
}

function nest(groups: readonly Representation[], edges: readonly GroupEdge[]): Tree[] {
  const position = new Map(groups.map(({ id }, index) => [id, index]));
  const childrenOf = new Map<number, number[]>(groups.map(({ id }) => [id, []]));
  for (const { parentId, childId } of edges) {
    // A group that was created after the groups were read is not among them.
    if (position.has(childId)) childrenOf.get(parentId)?.push(childId);
  }
  const hasParent = new Set(edges.map(({ childId }) => childId));
  let entries = 0;
  let length = 0;
  const grow = (id: number, level: number): Tree => {
    assertSize((entries += 1));
    if (level > MAX_LEVELS) throw tooLarge(`${MAX_LEVELS} levels`);
    const placeOf = (group: number): number => entryOf(position, group);
    const group = itemAt(groups, placeOf(id));
    length += String(group.variables).length;
    if (length > MAX_VARIABLES_BYTES) {
      throw tooLarge(`${MAX_VARIABLES_BYTES} characters of variables`);
    }
    const ids = entryOf(childrenOf, id).sort((a, b) => placeOf(a) - placeOf(b));
    return { ...group, children: ids.map((child) => grow(child, level + 1)) };
  };
  return groups.flatMap(({ id }) => (hasParent.has(id) ? [] : [grow(id, 1)]));
}

function assertSize(entries: number): void {
  if (entries > MAX_ENTRIES) throw tooLarge(`${MAX_ENTRIES} entries`);
}

const tooLarge = (max: string): BadRequest =>
  new BadRequest(`The tree has more than ${max}. Use root_groups/ and children/ of each group.`);
