import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { readVariables } from '../../common/fields/variables.js';
import { secretEnvIn } from '../../credentials/types/injection-plan.js';
import type { InventoryDelivery } from '../../inventories/import/delivery.js';
import type { ReportLevel } from '../../inventories/import/import-changes.js';
import { InventoryImport } from '../../inventories/import/inventory-import.service.js';
import { InventorySourcesRepository } from '../../inventory-sources/inventory-sources.repository.js';
import {
  InventoryUpdatesRepository,
  type StartedInventoryUpdate,
} from '../../inventory-sources/inventory-updates.repository.js';
import {
  CONSTRUCTED,
  SCM,
  sourceKind,
  type SourceKind,
} from '../../inventory-sources/source-kinds.js';
import { JobEventsRepository } from '../../runs/events/job-events.repository.js';
import { storedEvent } from '../../runs/events/stored-event.js';
import {
  NO_INVENTORY,
  NO_PROJECT,
  STORING_CANCELED,
  STORING_TIMED_OUT,
} from '../../runs/run-explanations.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import { searchPaths } from '../runner/ansible-paths.js';
import { toEventRow } from '../runner/events.js';
import { readFactsIn } from '../runner/fact-files.js';
import { prepareReading } from '../runner/inventory-files.js';
import { createMasker } from '../runner/masker.js';
import type { Workspace } from '../runner/workspace.js';
import { messageOf } from '../../common/errors/errors.js';
import { RunEnded, type ActiveRun } from '../worker/active-runs.service.js';
import { AnsibleProcess } from '../worker/ansible-process.service.js';
import { EventStore } from '../worker/event-store.service.js';
import { InputInventories, type ProvidedInputs } from './input-inventories.service.js';
import { allowedEnvironment, inventoryDeliveryOf, originOf } from './inventory-delivery.js';
import { InventoryReader, type ReadInventory } from './inventory-reader.service.js';
import { JobCredentials } from '../worker/job-credentials.service.js';
import { JobProjectFiles, type ProjectFiles } from '../worker/job-project-files.service.js';
import {
  CannotStart,
  isExplained,
  outcomeOf,
  RunFailed,
  type RunOutcome,
  type RunKind,
} from '../worker/outcome.js';
import { RunOutput } from '../worker/run-output.js';

const NO_FILES: ProjectFiles = {
  dir: '',
  isShared: false,
  revision: '',
  shared: [],
  content: null,
};
/** Levels of import messages in the output, by the verbosity of the source. */
const REPORT_LEVELS: readonly (readonly ReportLevel[])[] = [
  ['WARNING'],
  ['WARNING', 'INFO'],
  ['WARNING', 'INFO', 'DEBUG'],
];

interface Reading {
  kind: SourceKind;
  workspace: Workspace;
  output: RunOutput;
  /** Null for ordinary inventories. */
  inputs: ProvidedInputs | null;
}

/** Runs an inventory update: reads the source with Ansible and imports the result into the inventory. */
@Injectable()
export class InventoryUpdate implements RunKind {
  constructor(
    private readonly sources: InventorySourcesRepository,
    private readonly updates: InventoryUpdatesRepository,
    private readonly runtime: RuntimeSettings,
    private readonly credentials: JobCredentials,
    private readonly projectFiles: JobProjectFiles,
    private readonly inputs: InputInventories,
    private readonly reader: InventoryReader,
    private readonly imports: InventoryImport,
    private readonly events: EventStore,
    private readonly storedEvents: JobEventsRepository,
    private readonly process: AnsibleProcess,
  ) {}

  async run(run: ActiveRun): Promise<RunOutcome> {
    const row = await this.updates.started(run.id);
    if (row.cancel_requested) run.end('cancel');
    const position = { counter: row.counter, line: row.line };
    const output = new RunOutput(this.events, run, position);
    const started = performance.now();
    const seconds = await this.timeout(row);
    const until = seconds > 0 ? started + seconds * 1000 : Infinity;
    const outcome = await this.attempt(run, row, output, (delivery) => ({
      status: 'successful',
      complete: () => this.store(run, row, delivery, { position, started, until }),
    }));
    await output.end();
    return { ...outcome, fields: { ...outcome.fields, emitted_events: output.counter } };
  }

  private async attempt(
    run: ActiveRun,
    row: StartedInventoryUpdate,
    output: RunOutput,
    finish: (delivery: InventoryDelivery) => RunOutcome,
  ): Promise<RunOutcome> {
    try {
      return finish(await this.readSource(run, row, output));
    } catch (error) {
      if (!isExplained(error)) throw error;
      output.add(`${error.message}\n`);
      return outcomeOf(error);
    }
  }

  private async readSource(
    run: ActiveRun,
    row: StartedInventoryUpdate,
    output: RunOutput,
  ): Promise<InventoryDelivery> {
    const kind = sourceKind(row.source) ?? SCM;
    return this.process.withWorkspace(run, async (workspace) => {
      const inputs =
        kind === CONSTRUCTED ? await this.inputs.provide(inventoryOf(row), workspace) : null;
      const read = await this.read(run, row, { kind, workspace, output, inputs });
      return inventoryDeliveryOf(read, row, kind, inputs?.hosts ?? null);
    });
  }

  private async read(
    run: ActiveRun,
    row: StartedInventoryUpdate,
    { kind, workspace, output, inputs }: Reading,
  ): Promise<ReadInventory> {
    const ids = row.credential_id === null ? [] : [row.credential_id];
    const plan = await this.credentials.open(run, ids, { workspace });
    const files = kind.plugin ? NO_FILES : await this.files(run, row, { workspace, output });
    const variables = await readVariables(row.source_vars);
    const prepared = await prepareReading(
      {
        origin: originOf(kind, {
          row,
          variables,
          files,
          env: plan.env,
          inputs: inputs?.scripts ?? null,
        }),
        verbosity: row.verbosity,
        env: {
          INVENTORY_SOURCE_ID: String(row.inventory_source_id),
          INVENTORY_UPDATE_ID: String(run.id),
          ...kind.plugin?.environment,
          ...(inputs ? await readFactsIn(workspace) : {}),
          ...(kind.plugin ? {} : allowedEnvironment(variables)),
          ...(await collectionsOf(files)),
          ...plan.env,
        },
        secretEnv: secretEnvIn(plan),
      },
      workspace,
    ).catch((error: unknown) => {
      throw new RunFailed(messageOf(error));
    });
    const masker = createMasker(plan.secrets);
    await this.process.storeStart(run, prepared, { masker, revision: files.revision });
    return this.reader.read(run, {
      workspace,
      prepared,
      shared: files.shared,
      limit: row.limit,
      plugin: kind.plugin?.fullName ?? null,
      timeoutSeconds: await this.timeout(row),
      masker,
      onOutput: (text) => output.add(text),
    });
  }

  /** Always syncs the project first, so that the import uses its current state. */
  private async files(
    run: ActiveRun,
    row: StartedInventoryUpdate,
    { workspace, output }: { workspace: Workspace; output: RunOutput },
  ): Promise<ProjectFiles> {
    const { source_project_id: id } = row;
    const project = id === null ? undefined : await this.sources.projectFiles(id);
    if (!project || project.scm_type === '') throw new CannotStart(NO_PROJECT);
    return this.projectFiles.provide(run, {
      project,
      branch: row.scm_branch,
      destination: workspace.projectDir,
      timeoutSeconds: await this.timeout(row),
      onSync: (updateId) => this.updates.storeProjectUpdate(run, updateId),
      onOutput: (text) => output.add(text),
    });
  }

  /** Returns the timeout in seconds. A negative value means no timeout, 0 the default of the settings. */
  private async timeout({ timeout }: StartedInventoryUpdate): Promise<number> {
    if (timeout !== 0) return Math.max(timeout, 0);
    return (await this.runtime.get('DEFAULT_INVENTORY_UPDATE_TIMEOUT'))
      .DEFAULT_INVENTORY_UPDATE_TIMEOUT;
  }

  /** Imports in the transaction that ends the run, so that no reader sees a half-imported inventory. */
  private async store(
    run: ActiveRun,
    row: StartedInventoryUpdate,
    delivery: InventoryDelivery,
    {
      position,
      started,
      until,
    }: { position: { counter: number; line: number }; started: number; until: number },
  ): Promise<Record<string, unknown>> {
    const { inventory_source_id: sourceId } = row;
    const inventoryId = inventoryOf(row);
    if (sourceId === null) throw new CannotStart(NO_INVENTORY);
    const lines: string[] = [];
    const seconds = (): string => ((performance.now() - started) / 1000).toFixed(3).padStart(9);
    const report = (level: ReportLevel, message: string): void => {
      if (REPORT_LEVELS[row.verbosity]?.includes(level)) {
        lines.push(`${seconds()} ${level.padEnd(8)} ${message}`);
      }
    };
    report('INFO', `Loaded ${delivery.groups.size} groups, ${delivery.hosts.size} hosts`);
    const changes = await this.imports.store(
      { sourceId, inventoryId },
      delivery,
      {
        overwrite: row.overwrite,
        overwriteVars: row.overwrite_vars,
        isConstructed: row.source === CONSTRUCTED.value,
        hasInstanceIds: (sourceKind(row.source) ?? SCM).instanceId !== '',
      },
      {
        report,
        checkpoint: () => {
          // A worker that shuts down finishes the import, or the update runs again.
          if (run.reason === 'cancel' || run.reason === 'lost') {
            throw new RunEnded(STORING_CANCELED);
          }
          if (performance.now() > until) throw new RunFailed(STORING_TIMED_OUT);
        },
      },
    );
    report('INFO', `Inventory import completed for ${row.name} in ${seconds().trim()}s`);
    const emitted = await this.storeMessages(run, lines, position);
    return { changes: JSON.stringify(changes), emitted_events: emitted };
  }

  /** @returns number of events of the run, including the stored messages */
  private async storeMessages(
    run: ActiveRun,
    lines: readonly string[],
    { counter, line }: { counter: number; line: number },
  ): Promise<number> {
    if (lines.length === 0) return counter;
    const event = toEventRow({
      uuid: randomUUID(),
      counter: counter + 1,
      event: 'verbose',
      stdout: lines.join('\n'),
      start_line: line,
      end_line: line + lines.length,
      created: new Date().toISOString(),
    });
    if (!(await this.storedEvents.store(run, [storedEvent(event)]))) {
      throw new RunEnded('The lease is gone.');
    }
    return counter + 1;
  }
}

function inventoryOf({ inventory_id: id }: StartedInventoryUpdate): number {
  if (id === null) throw new CannotStart(NO_INVENTORY);
  return id;
}

/** Collections that the project requires take precedence over those of the worker. */
async function collectionsOf({ dir, content }: ProjectFiles): Promise<Record<string, string>> {
  if (content === null) return {};
  const { collectionsPaths } = await searchPaths(dir, content);
  return { ANSIBLE_COLLECTIONS_PATH: collectionsPaths.join(':') };
}
