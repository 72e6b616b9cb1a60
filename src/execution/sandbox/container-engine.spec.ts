import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AddressGuard } from '../../outbound/address-guard.js';
import { programVersion, pullImage, sweepContainers } from './container-engine.js';

it('an engine that ignores SIGTERM is killed after its time limit', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'));
  const engine = join(folder, 'engine');
  writeFileSync(engine, "#!/bin/sh\ntrap '' TERM\nexec sleep 60\n", { mode: 0o700 });
  await expect(programVersion(engine, 200)).rejects.toThrow('Command failed');
  rmSync(folder, { recursive: true });
}, 10_000);

it('containers of dead workers are removed even if the removal of one of them fails', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'));
  const engine = join(folder, 'engine');
  const [broken, other] = ['a', 'b'].map((id) => `automation-e15e-${2 ** 22 + 1}-1-${id}`);
  writeFileSync(
    engine,
    `#!/bin/sh
    case "$*" in
      ps*) printf '${broken}\\n${other}\\n' ;;
      *${broken}) echo 'is stuck' >&2; exit 1 ;;
      *) echo "$3" >> "${folder}/removed" ;;
    esac`,
    { mode: 0o700 },
  );
  const owner = { installation: 'e15e', worker: '1-1' };
  await expect(sweepContainers({ engine, owner })).rejects.toThrow('is stuck');
  expect(readFileSync(join(folder, 'removed'), 'utf8')).toBe(`${other}\n`);
  rmSync(folder, { recursive: true });
});

describe('a pull whose helper leaves the process group and keeps its output open', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'engine-'))));
  afterEach(() => {
    process.kill(Number(readFileSync(join(folder, 'helper'), 'utf8')), 'SIGKILL');
    rmSync(folder, { recursive: true });
  });

  /** Pulls with an engine that starts the helper and then runs a shell command. */
  function pull(command: string, signal: AbortSignal): Promise<void> {
    const engine = join(folder, 'engine');
    const start = `setsid sh -c 'echo $$ > "${folder}/helper"; exec sleep 60' &`;
    const hasStarted = `until [ -s "${folder}/helper" ]; do sleep 0.01; done`;
    writeFileSync(engine, `#!/bin/sh\n${start}\n${hasStarted}\n${command}\n`, { mode: 0o700 });
    return pullImage({
      ...{ engine, isPodman: true, image: 'tools', login: null, signal },
      guard: new AddressGuard([]),
      onOutput: () => undefined,
    });
  }

  it('ends with its engine', async () => {
    const pulling = pull('echo broken; exit 1', new AbortController().signal);
    await expect(pulling).rejects.toThrow('broken');
  }, 30_000);

  it('ends after it was aborted', async () => {
    const controller = new AbortController();
    const pulling = pull(`: > "${folder}/pulls"; sleep 60`, controller.signal);
    const outcome = expect(pulling).rejects.toThrow('ended with');
    while (!existsSync(join(folder, 'pulls'))) await sleep(20);
    controller.abort();
    await outcome;
  }, 30_000);
});
