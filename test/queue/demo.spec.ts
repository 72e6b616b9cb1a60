/**
 * Budget: 40 s, because it runs the three stories of npm run demo.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';

const execute = promisify(execFile);

/** The stories of `npm run demo`, as a user runs them; each checks its own steps. */
describe('the demo', () => {
  let cluster: Cluster;
  let api: ApiCalls;

  beforeAll(async () => {
    cluster = await Cluster.start({ concurrency: 4 });
    const environment = {
      ...{ PROJECT_SCM_SCHEMES: 'https,file', PROJECT_FILE_ROOTS: cluster.folder },
      OUTBOUND_ALLOW: '127.0.0.0/8',
    };
    api = await ApiCalls.inside(cluster, environment);
    await cluster.workerInside(environment);
  });
  afterAll(() => cluster.stop());

  /** @returns the output; throws an error with the output if the demo fails */
  async function runDemo(story: string): Promise<string> {
    const run = execute(process.execPath, ['scripts/demo.mjs', story], {
      env: {
        ...{ PATH: process.env.PATH, HOME: cluster.folder, TMPDIR: cluster.folder },
        ...{ CONTROLLER_URL: api.url, DATA_DIR: `${cluster.folder}/data` },
        CONTROLLER_TOKEN: api.authorization.replace('Bearer ', ''),
      },
    });
    const { stdout } = await run.catch(({ stdout: output }: { stdout: string }) => {
      throw new Error(output);
    });
    return stdout;
  }

  it.each(['main', 'workflow', 'inventory'])(
    'completes the story "%s"',
    async (story) => {
      expect(await runDemo(story)).toContain('Open the result');
    },
    300_000,
  );

  it('lists its stories, and fails for an unknown one', async () => {
    await expect(runDemo('nothing')).rejects.toThrow('main, workflow, inventory');
  });
});
