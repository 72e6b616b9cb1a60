import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { FALSE, sql, TRUE } from '../../database/sql.js';
import { permit, RoleStore, type Actor } from '../access.js';
import { ActivityRecorder, refOf } from '../activity/activity.js';
import { validate } from '../fields/validation.js';
import { Forbidden, NotFound } from '../errors/errors.js';
import { itemAt } from '../invariants.js';
import { ListService, type ListOptions } from '../list/list.service.js';
import type { Page } from '../list/page.js';
import type { QueryParameters } from '../list/query.js';
import {
  changeable,
  changesOf,
  columnsOf,
  parentChanged,
  replaceable,
  rowChanges,
  updateChanges,
} from './changes.js';
import { DeclaredProviders } from '../declared-providers.service.js';
import type { ResourceDefinition, Row, RowOf } from '../resource/define-resource.js';
import { preparedColumns, preparedValues, type ResourceHooks, type Values } from './hooks.js';
import { idByName } from '../resource/natural-key.js';
import { assertRedirect } from './destinations.js';
import { ReferencesService } from './references.service.js';
import { RepresentContexts } from '../resource/represent-contexts.service.js';
import { represent, type Representation } from '../resource/representation.js';
import { ResourceRowsRepository } from './resource-rows.repository.js';

const noMatch = ({ label }: ResourceDefinition): NotFound =>
  new NotFound(`No ${label.replaceAll(' ', '')} matches the given query.`);

/** Sources of a new row besides the body. A sub-list injects its parent. */
export interface CreateOptions {
  injected?: Values;
  /** Replaces the policy's `add` rule if the parent's rule decides. Throws to refuse. */
  authorize?: () => Promise<void>;
}

/** Implements list, retrieve, create, change and delete uniformly for every resource. */
@Injectable()
export class ResourceService {
  constructor(
    readonly database: Database,
    private readonly rows: ResourceRowsRepository,
    private readonly lists: ListService,
    private readonly references: ReferencesService,
    private readonly roles: RoleStore,
    private readonly activity: ActivityRecorder,
    private readonly contexts: RepresentContexts,
    private readonly providers: DeclaredProviders,
  ) {}

  list(
    definition: ResourceDefinition,
    query: QueryParameters,
    actor: Actor,
    options: ListOptions = {},
  ): Promise<Page<Representation>> {
    return this.lists.list(definition, query, actor, options);
  }

  /** Returns the representation of one loaded row. */
  async show(definition: ResourceDefinition, row: Row, actor: Actor): Promise<Representation> {
    return itemAt(await represent(definition, [row], this.contexts.of(actor, true)), 0);
  }

  /**
   * Loads one readable row with its capabilities, by id or natural key.
   *
   * @param action additional action that the caller must have
   * @param refusal error text for a caller who can read the object but lacks the action
   * @throws NotFound for an unknown id, Forbidden if the caller cannot read the object or lacks the action
   *   (docs/contract/conventions.md#readable-or-not)
   */
  async load<Schema extends object>(
    definition: ResourceDefinition<Schema>,
    id: string | number,
    actor: Actor,
    { action = 'read', refusal }: { action?: string; refusal?: string | undefined } = {},
  ): Promise<RowOf<Schema>> {
    if (!definition.stored) throw new NotFound();
    const number =
      typeof id === 'string' && !/^\d+$/.test(id)
        ? await idByName(definition, id, { database: this.database, actor })
        : Number(id);
    const row = await this.rows.withPermissions(definition, number, actor, action);
    if (!row) throw noMatch(definition);
    if (row.may_read !== true) throw new Forbidden();
    if (row.may_act !== true) throw new Forbidden(refusal);
    return row;
  }

  /**
   * Loads the current row with its capabilities and the `use` columns of the objects that it references
   * (`destinationColumns`), and locks the row until the caller's transaction ends, after its parent.
   *
   * @param sent body of the change, if the transaction changes the row
   * @throws NotFound if the row has been deleted
   */
  async lock<Schema extends object>(
    definition: ResourceDefinition<Schema>,
    { id }: Pick<Row, 'id'>,
    actor: Actor,
    sent: Values = {},
  ): Promise<RowOf<Schema>> {
    await this.hooksOf(definition).lockParent?.(id, sent);
    const row = await this.rows.lock(definition, id, actor);
    if (!row) throw noMatch(definition);
    return row;
  }

  async create<Schema extends object>(
    definition: ResourceDefinition<Schema>,
    body: Values,
    actor: Actor,
    { injected = {}, authorize }: CreateOptions = {},
  ): Promise<RowOf<Schema>> {
    const fields = definition.fields.filter((field) => !(field.name in injected));
    const values = { ...validate(definition.entity, body, { fields }), ...injected };
    return this.insert(definition, values, actor, authorize);
  }

  /** Creates a row from values that are already validated. */
  async insert<Schema extends object>(
    definition: ResourceDefinition<Schema>,
    validated: Values,
    actor: Actor,
    authorize?: () => Promise<void>,
  ): Promise<RowOf<Schema>> {
    const hooks = this.hooksOf(definition);
    const sent = Object.freeze({ ...validated });
    return this.database.transaction(async () => {
      await this.references.assertExist(definition, sent);
      await (authorize ? authorize() : this.assertMayAdd(definition, sent, actor));
      await this.references.assertUsable(definition, sent, actor);
      const prepared = (await hooks.prepareCreate?.(sent, actor)) ?? {};
      await this.references.assertUsable(definition, prepared.values ?? {}, actor);
      const values = preparedValues(sent, prepared);
      if (prepared.values && !authorize) await this.assertMayAdd(definition, values, actor);
      const columns = {
        ...columnsOf(definition, values),
        ...(await preparedColumns(prepared)),
        ...(definition.discriminator === undefined ? {} : { type: definition.discriminator }),
        ...(definition.field('created_by') ? { created_by_id: actor.id } : {}),
        ...(definition.field('modified_by') ? { modified_by_id: actor.id } : {}),
      };
      const row = await this.rows.insert(definition, columns);
      await this.roles.createRoles(definition, [row]);
      await hooks.created?.(row, values, actor);
      // Last, because the hook can grant the creator the role through a team.
      await this.roles.grantCreator(definition, row, actor);
      if (definition.audited) {
        const changes = rowChanges(definition, row);
        this.activity.record({ operation: 'create', object1: refOf(definition, row), changes });
      }
      return this.rows.readWritten(definition, row.id, actor);
    });
  }

  /** Applies a PATCH (`partial`) or PUT. Only values that differ are checked, written and logged. */
  async update<Schema extends object>(
    definition: ResourceDefinition<Schema>,
    target: Row,
    body: Values,
    actor: Actor,
    { partial }: { partial: boolean },
  ): Promise<RowOf<Schema>> {
    return this.database.transaction(async () => {
      const before = await this.lock(definition, target, actor, body);
      const fields = partial ? changeable(definition) : replaceable(definition, body);
      const values = validate(definition.entity, body, { fields, partial });
      return this.change(definition, before, values, actor, { partial });
    });
  }

  /** Changes a row that `lock` returned, from values that are already validated. */
  async change<Schema extends object>(
    definition: ResourceDefinition<Schema>,
    before: RowOf<Schema>,
    values: Values,
    actor: Actor,
    mode: { partial: boolean } = { partial: true },
  ): Promise<RowOf<Schema>> {
    const hooks = this.hooksOf(definition);
    const sent = Object.freeze(changesOf(definition, before, values));
    await this.references.assertExist(definition, sent);
    await this.references.assertUsable(definition, sent, actor);
    const prepared = (await hooks.prepareUpdate?.(before, sent, actor, mode)) ?? {};
    await this.references.assertUsable(definition, prepared.values ?? {}, actor);
    const changed = preparedValues(sent, prepared);
    assertRedirect(definition, before, changed);
    const columns = {
      ...columnsOf(definition, changed),
      ...(await preparedColumns(prepared)),
    };
    if (Object.keys(columns).length === 0) return before;
    const author = definition.field('modified_by') ? { modified_by_id: actor.id } : {};
    const after = await this.rows.update(definition, before.id, {
      ...columns,
      modified: sql`now()`,
      ...author,
    });
    await hooks.updated?.(before, after, actor);
    // Last, because it locks the graph of roles.
    if (parentChanged(definition, before, after)) {
      await this.roles.parentChanged(definition, [after]);
    }
    if (definition.audited && Object.keys(changed).length > 0) {
      const changes = updateChanges(definition, before, changed);
      this.activity.recordUpdate(definition, after, changes);
    }
    return this.rows.readWritten(definition, before.id, actor);
  }

  /** Deletes a row, unless the hook of the resource does so in another way. */
  async destroy(definition: ResourceDefinition, target: Row, actor: Actor): Promise<void> {
    return this.database.transaction(async () => {
      const row = await this.lock(definition, target, actor);
      await this.database.prepareDeletion();
      const isDone = await this.hooksOf(definition).prepareDelete?.(row, actor);
      if (isDone) return;
      await this.rows.delete(definition, row.id);
      if (definition.audited) {
        const changes = rowChanges(definition, row);
        this.activity.record({ operation: 'delete', object1: refOf(definition, row), changes });
      }
    });
  }

  /** @throws Forbidden unless the caller has `action` on the row in its current state */
  async assertMay(
    definition: ResourceDefinition,
    id: number,
    action: string,
    actor: Actor,
  ): Promise<void> {
    const rule = permit(definition.policy, action, 't', actor);
    if (rule === TRUE) return;
    if (rule === FALSE || !(await this.rows.matches(definition, id, rule))) throw new Forbidden();
  }

  /** Returns true if a create by this caller could succeed at all; used by OPTIONS and forms. */
  async mayAdd({ policy }: ResourceDefinition, actor: Actor): Promise<boolean> {
    return actor.isSuperuser || this.rows.evaluate(policy.mayAdd?.(actor) ?? FALSE);
  }

  /** @throws Forbidden unless the caller has permission to create an object with these values */
  async assertMayAdd({ policy }: ResourceDefinition, values: Values, actor: Actor): Promise<void> {
    if (actor.isSuperuser || (await this.rows.evaluate(policy.add?.(values)('t', actor) ?? FALSE)))
      return;
    throw new Forbidden();
  }

  hooksOf(definition: ResourceDefinition): ResourceHooks {
    return definition.hooks ? this.providers.find<ResourceHooks>(definition.hooks) : {};
  }
}
