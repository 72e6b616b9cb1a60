import { Injectable, Logger } from '@nestjs/common';
import { messageOf } from '../../common/errors/message-of.js';
import { parseJson } from '../../common/fields/json-bounds.js';
import type { HostRow } from '../../inventories/ansible-inventory.js';
import { HostFactsRepository, type FactsText } from '../../inventories/host-facts.repository.js';
import { FACTS_NOT_STORED, factsNotKept } from '../../runs/run-explanations.js';
import { heldLease } from '../../runs/run-leases.repository.js';
import { RuntimeSettings } from '../../settings/runtime-settings.service.js';
import { isRecord, toCleanJson } from '../runner/clean-text.js';
import { canHaveFacts, changedFacts, writeFacts, type ChangedFacts } from '../runner/fact-files.js';
import type { Workspace } from '../runner/workspace.js';
import { RunEnded, type ActiveRun } from './active-runs.service.js';
import { patiently } from './patience.js';

/** Facts held in memory at most, about, in bytes. */
const MOST_BYTES = 32 * 1024 * 1024;
/** Hosts of one statement at most. */
const MOST_HOSTS = 500;

/** The hosts of a run whose facts outlive it, by name, and which of them had facts to begin with. */
export interface FactsOfRun {
  readonly hosts: ReadonlyMap<string, number>;
  readonly handed: ReadonlySet<string>;
  /** Larger facts of a host are not stored. */
  readonly maxBytes: number;
}

/** Facts between the database and the folder of a run (docs/contract/runs.md#facts). */
@Injectable()
export class JobFacts {
  private readonly logger = new Logger('Worker');

  constructor(
    private readonly runtime: RuntimeSettings,
    private readonly stored: HostFactsRepository,
  ) {}

  /** Writes what is known of the hosts of a run, and fresh, where Ansible looks for it. */
  async hand(
    workspace: Workspace,
    hosts: readonly Pick<HostRow, 'id' | 'name'>[],
  ): Promise<FactsOfRun> {
    const settings = await this.runtime.get('ANSIBLE_FACT_CACHE_TIMEOUT', 'HOST_FACTS_BYTES');
    const withFacts = hosts.filter(({ name }) => canHaveFacts(name));
    const nameOf = new Map(withFacts.map(({ id, name }) => [id, name]));
    const ids = [...nameOf.keys()];
    const handed = new Set<string>();
    const step = hostsAtOnce(settings.HOST_FACTS_BYTES);
    await writeFacts(workspace, []);
    for (let start = 0; start < ids.length; start += step) {
      const batch = ids.slice(start, start + step);
      const known = await this.stored.fresh(batch, settings.ANSIBLE_FACT_CACHE_TIMEOUT);
      const files = known.flatMap(({ host_id: id, facts }) => {
        const name = nameOf.get(id);
        return name === undefined ? [] : [[name, facts] as const];
      });
      await writeFacts(workspace, files);
      for (const [name] of files) handed.add(name);
    }
    const idOf = new Map(withFacts.map(({ id, name }) => [name, id]));
    return { hosts: idOf, handed, maxBytes: settings.HOST_FACTS_BYTES };
  }

  /**
   * Stores what a play has found out; what it did not touch stays as it is, whatever became of the run.
   *
   * @returns what the run tells of it; empty when all is well
   */
  async keep(run: ActiveRun, workspace: Workspace, facts: FactsOfRun): Promise<string> {
    try {
      return factsNotKept(await this.store(run, workspace, facts));
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
    { hosts, handed, maxBytes }: FactsOfRun,
  ): Promise<string[]> {
    const refused: string[] = [];
    let batch: FactsText[] = [];
    for await (const changed of changedFacts(workspace, [...hosts.keys()], handed, maxBytes)) {
      const facts = factsIn(changed);
      const id = hosts.get(changed.host);
      if (facts === null || id === undefined) refused.push(changed.host);
      else batch.push({ host_id: id, facts });
      if (batch.length >= hostsAtOnce(maxBytes)) {
        await this.write(run, batch);
        batch = [];
      }
    }
    if (batch.length > 0) await this.write(run, batch);
    return refused;
  }

  private async write(run: ActiveRun, batch: readonly FactsText[]): Promise<void> {
    const mayWait = () => run.reason !== 'lost' && run.reason !== 'shutdown';
    const isHeld = await patiently(() => this.stored.keep(heldLease(run), batch), mayWait);
    if (isHeld) return;
    run.end('lost');
    throw new RunEnded('The lease is gone.');
  }
}

const hostsAtOnce = (bytes: number): number =>
  Math.min(MOST_HOSTS, Math.max(1, Math.floor(MOST_BYTES / bytes)));

/** Facts as they are stored; null when they cannot be. */
function factsIn(changed: ChangedFacts): string | null {
  if (changed.change === 'removed') return '{}';
  if (changed.change === 'refused') return null;
  try {
    const facts = parseJson(changed.text);
    return isRecord(facts) ? toCleanJson(facts) : null;
  } catch {
    return null;
  }
}
