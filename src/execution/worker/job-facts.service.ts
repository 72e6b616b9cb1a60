import { Injectable, Logger } from '@nestjs/common';
import { exactJson } from '../../common/exact-json.js';
import { messageOf } from '../../common/errors/errors.js';
import { parseJson } from '../../common/fields/json-bounds.js';
import { isRecord, parseRecord } from '../../common/records.js';
import type { HostRow } from '../../inventories/ansible-inventory.js';
import { HostFactsRepository, type FactsText } from '../../inventories/host-facts.repository.js';
import { FACTS_NOT_STORED, factsNotStored } from '../../runs/run-explanations.js';
import { leaseOf } from '../../runs/run-leases.repository.js';
import { LogLines } from '../../logging/log-lines.service.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import { toCleanJson } from '../runner/clean-text.js';
import { classifyFacts, withoutTemplates } from '../runner/fact-domains.js';
import {
  changedFacts,
  createFactFolders,
  writeFacts,
  type ChangedFacts,
} from '../runner/fact-files.js';
import type { Masker } from '../runner/masker.js';
import type { Workspace } from '../runner/workspace.js';
import { RunEnded, type ActiveRun } from './active-runs.service.js';
import { retryOutage } from './outage-retry.js';

/** Approximate maximum size of facts in memory, in bytes. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Maximum number of hosts per statement. */
const MAX_HOSTS = 500;

type Hosts = readonly Pick<HostRow, 'id' | 'name'>[];

/**
 * The hosts of a run whose facts are stored, by name, and the hosts that had facts before the run.
 */
export interface RunHostFacts {
  readonly hosts: ReadonlyMap<string, number>;
  readonly provided: ReadonlySet<string>;
  /** Project of the run; other projects do not receive its facts. */
  readonly projectId: number;
  /** Maximum size of a host's facts, in bytes; larger facts are not stored. */
  readonly maxBytes: number;
}

/** Facts of a run that has ended, and the masker of its secrets. */
type EndedFacts = RunHostFacts & { readonly masker: Masker };

/** Copies facts between the database and the folder of a run (docs/contract/runs.md#facts). */
@Injectable()
export class JobFacts {
  private readonly logger = new Logger('Worker');

  constructor(
    private readonly runtime: RuntimeSettings,
    private readonly stored: HostFactsRepository,
    private readonly logs: LogLines,
  ) {}

  /**
   * Writes the fresh facts that a run of a project can read to the folder where Ansible looks for facts.
   */
  async provide(workspace: Workspace, hosts: Hosts, projectId: number): Promise<RunHostFacts> {
    const written = await this.write(workspace, hosts, projectId, ({ shared, own }) => ({
      ...classifyFacts(parseRecord(shared)).shared,
      ...classifyFacts(parseRecord(own)).own,
    }));
    return { ...written, projectId };
  }

  /**
   * Writes facts of hosts for a constructed inventory: the facts of all projects, except texts that would
   * be evaluated as templates.
   */
  async provideForInventory(workspace: Workspace, hosts: Hosts): Promise<void> {
    await this.write(workspace, hosts, null, ({ shared, own }) =>
      withoutTemplates({ ...parseRecord(own), ...parseRecord(shared) }),
    );
  }

  private async write(
    workspace: Workspace,
    hosts: Hosts,
    projectId: number | null,
    factsOf: (known: FactsText) => object,
  ): Promise<Omit<RunHostFacts, 'projectId'>> {
    const settings = await this.runtime.get('ANSIBLE_FACT_CACHE_TIMEOUT', 'HOST_FACTS_BYTES');
    const canHaveFacts = await createFactFolders(
      workspace,
      hosts.map(({ name }) => name),
    );
    const named = hosts.filter(({ name }) => canHaveFacts(name));
    const nameOf = new Map(named.map(({ id, name }) => [id, name]));
    const ids = [...nameOf.keys()];
    const provided = new Set<string>();
    const step = hostsAtOnce(settings.HOST_FACTS_BYTES);
    for (let start = 0; start < ids.length; start += step) {
      const batch = ids.slice(start, start + step);
      const maxAge = settings.ANSIBLE_FACT_CACHE_TIMEOUT;
      for (const facts of await this.stored.fresh(batch, maxAge, projectId)) {
        const name = nameOf.get(facts.host_id);
        if (name === undefined) continue;
        await writeFacts(workspace, [[name, exactJson(factsOf(facts))]]);
        provided.add(name);
      }
    }
    const idOf = new Map(named.map(({ id, name }) => [name, id]));
    return { hosts: idOf, provided, maxBytes: settings.HOST_FACTS_BYTES };
  }

  /**
   * Stores the facts that a play collected, independent of the outcome of the run. Unchanged facts are
   * not stored again.
   *
   * @returns message for the explanation of the run; empty without problems
   * @throws RunEnded if the lease is lost
   */
  async storeCollected(run: ActiveRun, workspace: Workspace, facts: EndedFacts): Promise<string> {
    try {
      return factsNotStored(await this.store(run, workspace, facts));
    } catch (error) {
      if (error instanceof RunEnded) throw error;
      this.logger.error({ message: 'facts not stored', run: run.id, reason: messageOf(error) });
      return FACTS_NOT_STORED;
    }
  }

  /** @returns hosts whose facts cannot be stored */
  private async store(
    run: ActiveRun,
    workspace: Workspace,
    { hosts, provided, projectId, maxBytes, masker }: EndedFacts,
  ): Promise<string[]> {
    const refused: string[] = [];
    let batch: FactsText[] = [];
    for await (const changed of changedFacts(workspace, [...hosts.keys()], provided, maxBytes)) {
      const facts = factsIn(changed);
      const id = hosts.get(changed.host);
      if (facts === null || id === undefined) refused.push(changed.host);
      else {
        batch.push({ host_id: id, ...facts });
        if (this.logs.wants('system_tracking')) {
          const merged = { ...parseRecord(facts.own), ...parseRecord(facts.shared) };
          this.forward(run, changed.host, masker.value(merged));
        }
      }
      if (batch.length >= hostsAtOnce(maxBytes)) {
        await this.storeBatch(run, projectId, batch);
        batch = [];
      }
    }
    if (batch.length > 0) await this.storeBatch(run, projectId, batch);
    return refused;
  }

  /** Sends the masked facts of a host to the log aggregator. */
  private forward({ id }: ActiveRun, host: string, facts: unknown): void {
    const parts =
      this.logs.individualFacts && isRecord(facts)
        ? Object.entries(facts).map(([name, value]) => ({ fact: name, value }))
        : [{ facts }];
    for (const part of parts) {
      this.logs.add('system_tracking', `Facts of host ${host}`, {
        host_name: host,
        job: id,
        ...part,
      });
    }
  }

  private async storeBatch(
    run: ActiveRun,
    projectId: number,
    batch: readonly FactsText[],
  ): Promise<void> {
    const mayWait = () => run.reason !== 'lost' && run.reason !== 'shutdown';
    const store = () => this.stored.store(leaseOf(run), projectId, batch);
    if (await retryOutage(store, mayWait)) return;
    run.end('lost');
    throw new RunEnded('The lease is gone.');
  }
}

const hostsAtOnce = (bytes: number): number =>
  Math.min(MAX_HOSTS, Math.max(1, Math.floor(MAX_BYTES / bytes)));

/** Returns facts in their stored form; null if they cannot be stored. */
function factsIn(changed: ChangedFacts): Omit<FactsText, 'host_id'> | null {
  if (changed.change === 'removed') return { shared: '{}', own: '{}' };
  if (changed.change === 'refused') return null;
  try {
    const facts = parseJson(changed.text);
    if (!isRecord(facts)) return null;
    const { shared, own } = classifyFacts(facts);
    return { shared: toCleanJson(shared), own: toCleanJson(own) };
  } catch {
    return null;
  }
}
