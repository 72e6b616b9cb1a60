import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { BadRequest, Invalid } from '../common/errors/errors.js';
import { existing } from '../common/invariants.js';
import { VariablesError, readVariables } from '../common/fields/variables.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import { ActiveRunsQuery, assertNoActiveRuns } from '../common/resource/dependents.js';
import {
  valueAfter,
  type Prepared,
  type ResourceHooks,
  type ValuesOf,
} from '../common/rest/hooks.js';
import { ReferencesService } from '../common/rest/references.service.js';
import { CredentialsRepository } from '../credentials/credentials.repository.js';
import type { InventorySource } from './inventory-source.entity.js';
import { InventorySourcesRepository } from './inventory-sources.repository.js';
import { InventoryUpdatesRepository } from './inventory-updates.repository.js';
import { constructedErrors, sourceErrors } from './source-checks.js';
import { CONSTRUCTED } from './source-kinds.js';

/** Hooks of inventory sources (docs/contract/inventory-sources.md#fields). */
@Injectable()
export class InventorySourceHooks implements ResourceHooks<InventorySource> {
  constructor(
    private readonly sources: InventorySourcesRepository,
    private readonly updates: InventoryUpdatesRepository,
    private readonly credentials: CredentialsRepository,
    private readonly references: ReferencesService,
    private readonly runs: ActiveRunsQuery,
  ) {}

  async prepareCreate(values: ValuesOf<InventorySource>): Promise<Prepared<InventorySource>> {
    const id = existing(values.inventory, 'a required reference is given');
    const inventory = existing(await this.sources.inventory(id), 'a reference was looked up');
    await this.check(values, {}, inventory.kind);
    return { columns: { organization_id: inventory.organization_id } };
  }

  async prepareUpdate(
    row: RowOf<InventorySource>,
    values: ValuesOf<InventorySource>,
    actor: Actor,
  ): Promise<void> {
    if (row.source === CONSTRUCTED.value) {
      const errors = constructedErrors(Object.keys(values));
      if (Object.keys(errors).length > 0) throw new Invalid(errors);
    }
    const { source_project_id: former } = row;
    const isProjectChanged = 'source_project' in values && values.source_project !== former;
    if (isProjectChanged && former !== null) {
      await this.references.assertAllowed(resource('project'), [former], 'use', actor);
    }
    await this.check(values, row, '');
  }

  /** Deletes the updates of the source. Imported hosts and groups remain; its claims on them are deleted. */
  async prepareDelete(row: RowOf<InventorySource>): Promise<void> {
    if (row.source === CONSTRUCTED.value) {
      throw new BadRequest('The source of a constructed inventory is deleted with the inventory.');
    }
    await assertNoActiveRuns(this.runs, ['unified_job_template_id'], [row.id]);
    await this.updates.removeOf(row.id);
  }

  /** @throws Invalid with the errors of all fields */
  private async check(
    values: ValuesOf<InventorySource>,
    row: Partial<RowOf<InventorySource>>,
    inventoryKind: string,
  ): Promise<void> {
    const value = valueAfter(values, row);
    const [project, credential] = [value('source_project'), value('credential')];
    const errors = sourceErrors({
      value,
      changes: (...fields) => row.id === undefined || fields.some((field) => field in values),
      variableNames: await namesIn(String(value('source_vars') ?? '')),
      inventoryKind,
      project: typeof project === 'number' ? ((await this.sources.project(project)) ?? null) : null,
      credential:
        typeof credential === 'number'
          ? ((await this.credentials.typeOf(credential)) ?? null)
          : null,
    });
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
  }
}

/**
 * Returns the names of the variables; none for an invalid text, which the validation of the field
 * reports.
 */
async function namesIn(text: string): Promise<string[]> {
  try {
    return Object.keys(await readVariables(text));
  } catch (error) {
    if (error instanceof VariablesError) return [];
    throw error;
  }
}
