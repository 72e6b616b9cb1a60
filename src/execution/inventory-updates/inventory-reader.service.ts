import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { resultOr } from '../../common/errors/errors.js';
import { failPoint } from '../../common/fail-point.js';
import { parseRecord } from '../../common/records.js';
import { splitPort } from '../../inventories/import/delivery-reader.js';
import { OUTPUT_TOO_LARGE, TIMED_OUT, folderTooLarge } from '../../runs/run-explanations.js';
import { RunLeasesRepository } from '../../runs/run-leases.repository.js';
import { SandboxService } from '../sandbox/sandbox.service.js';
import { sandboxOfRun } from '../sandbox/run-sandbox.js';
import { BoundedText } from '../runner/bounded-text.js';
import { CommandShell, MAX_PRINTED } from '../runner/command-shell.js';
import { OUTPUT, writeEcho, type PreparedReading } from '../runner/inventory-files.js';
import { readBelow } from '../runner/untrusted-files.js';
import { MaskedLines } from '../runner/masked-lines.js';
import type { Masker } from '../runner/masker.js';
import { LimitWatch } from '../runner/shell-limits.js';
import { ARTIFACTS, type Workspace } from '../runner/workspace.js';
import { stopIfEnded, type ActiveRun } from '../worker/active-runs.service.js';
import { RunFailed } from '../worker/outcome.js';
import { MAX_DOCUMENT_BYTES, readDocument } from './inventory-document.js';

/** Line of `ansible --list-hosts` that names a host. */
const LISTED_HOST = /^ {4}(.+)$/;

/** A request to read an inventory source. */
export interface ReadRequest {
  readonly workspace: Workspace;
  readonly prepared: PreparedReading;
  /** Folders outside the workspace that the project's checkout depends on. */
  readonly shared: readonly string[];
  /** Full name of the inventory plugin that must be installed; null for files. */
  readonly plugin: string | null;
  /** Host pattern; empty for all hosts. */
  readonly limit: string;
  /** Timeout in seconds; 0: no timeout. */
  readonly timeoutSeconds: number;
  readonly masker: Masker;
  /** Receives whole lines of masked output. */
  readonly onOutput: (text: string) => void;
}

/** The inventory that Ansible has read. */
export interface ReadInventory {
  readonly document: unknown;
  /** Hosts that match the limit; null without a limit. */
  readonly limited: ReadonlySet<string> | null;
}

/** Reads inventories with Ansible, inside the sandbox. */
@Injectable()
export class InventoryReader {
  constructor(
    private readonly sandbox: SandboxService,
    private readonly settings: Settings,
    private readonly leases: RunLeasesRepository,
  ) {}

  /** @throws RunFailed, RunEnded if the run must end */
  async read(run: ActiveRun, request: ReadRequest): Promise<ReadInventory> {
    const { workspace, prepared, shared } = request;
    const hasNetwork = this.settings.JOB_NETWORK !== 'none';
    const spec = await sandboxOfRun(workspace, shared, hasNetwork);
    const { environment } = prepared;
    // Files must be written before the sandbox starts, which hands the folder over to the account
    // of the run.
    const echo = request.limit === '' ? null : await writeEcho(workspace);
    const command = { file: 'sh', args: [], environment, cwd: workspace.inside.dir };
    const shell = CommandShell.start(await this.sandbox.wrap(command, spec, run.isolation));
    const session = new Session(run, shell, request, this.settings.JOB_DISK_BYTES);
    try {
      if (request.plugin !== null) await session.assertInstalled(request.plugin);
      await session.export();
      const limited = echo === null ? null : await session.limit(echo);
      await this.leases.storeReadsResults(run, true);
      failPoint('inventory-results');
      const document = await documentIn(workspace);
      await this.leases.storeReadsResults(run, false);
      return { document, limited };
    } finally {
      session.watch.release();
      await shell.close();
    }
  }
}

/** The commands that read one inventory, and the conditions that end the commands early. */
class Session {
  readonly watch: LimitWatch;

  constructor(
    private readonly run: ActiveRun,
    private readonly shell: CommandShell,
    private readonly request: ReadRequest,
    private readonly maxBytes: number,
  ) {
    const { timeoutSeconds, workspace } = request;
    const deadline = timeoutSeconds > 0 ? performance.now() + timeoutSeconds * 1000 : Infinity;
    this.watch = new LimitWatch(
      { deadline, signal: run.signal, folder: workspace.dir, maxFolderBytes: maxBytes },
      () => shell.stop(),
    );
  }

  async assertInstalled(plugin: string): Promise<void> {
    const { stdout } = await this.execute('ansible-doc', ['-t', 'inventory', '--json', plugin], {
      isShown: false,
    });
    const found = resultOr(() => parseRecord(stdout), {});
    if (Object.hasOwn(found, plugin)) return;
    throw new RunFailed(`The inventory plugin ${plugin} is not installed on this server.`);
  }

  async export(): Promise<void> {
    const { code } = await this.execute('ansible-inventory', this.request.prepared.args);
    if (code !== 0)
      throw new RunFailed('The inventory could not be read. The output contains the reason.');
  }

  /**
   * Resolves the host pattern with Ansible itself, so that the result fits the installed version.
   */
  async limit(script: string): Promise<ReadonlySet<string>> {
    const { limit } = this.request;
    const args = ['all', '-i', script, `--limit=${limit}`, '--list-hosts'];
    const environment = { ANSIBLE_INVENTORY_ENABLED: 'script' };
    const { code, stdout } = await this.execute('ansible', args, { environment });
    const names = stdout.split('\n').flatMap((line) => LISTED_HOST.exec(line)?.[1] ?? []);
    if (code !== 0 || names.length === 0) throw new RunFailed('The limit matches no host.');
    return new Set(names.map((name) => splitPort(name).name));
  }

  private async execute(
    file: string,
    args: readonly string[],
    {
      environment = {},
      isShown = true,
    }: { environment?: Record<string, string>; isShown?: boolean } = {},
  ): Promise<{ code: number | null; stdout: string }> {
    const { prepared, masker, onOutput } = this.request;
    const lines = new MaskedLines(masker, onOutput);
    const stdout = new BoundedText(MAX_PRINTED);
    const code = await this.shell.run(
      { file, args, environment, cwd: prepared.jobCwd },
      {
        onStdout: (text) => stdout.add(text),
        onStderr: (text) => {
          if (isShown) lines.add(text);
        },
      },
    );
    lines.end();
    this.assertRunning();
    return { code, stdout: stdout.text };
  }

  private assertRunning(): void {
    stopIfEnded(this.run);
    if (this.shell.exceededOutputLimit) throw new RunFailed(OUTPUT_TOO_LARGE);
    if (this.watch.reached === 'timeout') throw new RunFailed(TIMED_OUT);
    if (this.watch.reached === 'full') throw new RunFailed(folderTooLarge(this.maxBytes));
  }
}

async function documentIn(workspace: Workspace): Promise<unknown> {
  const text = await readBelow(workspace, [ARTIFACTS, OUTPUT], MAX_DOCUMENT_BYTES);
  if (text !== null) return readDocument(text);
  throw new RunFailed(
    `The inventory was not written, or has more than ${MAX_DOCUMENT_BYTES} bytes.`,
  );
}
