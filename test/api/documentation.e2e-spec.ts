/** The commands of the documentation, pasted into a shell one after the other. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { demoData } from '../../src/cli/demo-data.js';
import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { boot, withSettingsOf, type TestApp } from '../support/boot.js';

const execute = promisify(execFile);

let test: TestApp;
let token: string;
// The commands change the template of the demo.
beforeEach(async () => {
  test = await boot();
  await withSettingsOf(test, {}, () => demoData());
  token = await test.make.token(test.as.users.superuser);
});
afterEach(() => test.close());

/** Returns the blocks of shell commands of a page. The start itself is a test of its own. */
function blocksOf(page: string): string[] {
  const text = readFileSync(join(PACKAGE_FOLDER, page), 'utf8');
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return blocks.filter((block) => block !== 'npm start\n');
}

/** Returns commands, for this server. */
function commandsOf(blocks: readonly string[]): string {
  const commands = blocks.join('\n');
  expect(commands).toContain('URL=http://127.0.0.1:8080\nTOKEN=$(cat var/admin_token)\n');
  return commands
    .replace('URL=http://127.0.0.1:8080', `URL=${test.url}`)
    .replace('$(cat var/admin_token)', token);
}

/** @returns the output of the commands of a page; throws if one of them fails */
async function run(page: string, blocks = blocksOf(page)): Promise<string> {
  const { stdout } = await execute('bash', ['-euo', 'pipefail', '-c', commandsOf(blocks)], {
    maxBuffer: 8 * 1024 * 1024,
  });
  return stdout;
}

it('the README launches a job by a webhook', async () => {
  const printed = await run('README.md');
  expect(printed).toMatch(/^\/api\/v2\/job_templates\/\d+\/service_a\/\npending\n/);
  const { body } = await test.as.superuser.get('jobs/?launch_type=webhook').expect(200);
  expect(body.count).toBe(1);
});

it('the commands of the API by example work', async () => {
  const printed = await run('docs/api-by-example.md');
  expect(printed).toContain('"name":"Rollout"');
  const { as } = test;
  const hosts = await as.superuser.get('hosts/?inventory__name=Fleet&page_size=1').expect(200);
  expect(hosts.body.count).toBe(1002);
  const template = 'job_templates/?name=Demo+Job+Template&schedules__name=Nightly';
  expect((await as.superuser.get(template).expect(200)).body.count).toBe(1);
});

it('a repeated launch with the same key returns the same job', async () => {
  const [first, second] = (await run('docs/clients.md')).trim().split('\n');
  expect(first).toMatch(/^\d+$/);
  expect(second).toBe(first);
});

it('the commands of the common tasks work', async () => {
  const printed = await run('docs/how-to.md');
  expect(printed).toMatch(/\nGo live\?\npending\nOperators\n$/);
  const nodes = 'workflow_job_nodes/?workflow_job__name=Release';
  const { body } = await test.as.superuser.get(nodes).expect(200);
  expect(body.count).toBe(3);
});

it('the examples of applications and logins are accepted', async () => {
  const [prelude = ''] = blocksOf('docs/how-to.md');
  const { make, home, as } = test;
  const authenticator = await make.row('authenticator', {
    name: 'First',
    configuration: { issuer: 'https://login.example.com', client_id: 'controller' },
  });
  const examples = ['docs/applications.md', 'docs/single-sign-on.md']
    .flatMap((page) => blocksOf(page))
    .filter((block) => !block.includes('npm run controller -- import-logins'))
    .map((block) =>
      block
        .replace('authenticators/1/', `authenticators/${authenticator.id}/`)
        .replace('"organization": 1,', `"organization": ${home.organization.id},`)
        .replace('"user": 7', `"user": ${as.users.orgMember.id}`),
    );
  const printed = await run('', [prelude, ...examples]);
  expect(printed).toContain('"client_secret":');
  expect(printed).toContain('"allowed":true');
  const { body } = await as.superuser.get('authenticators/?order_by=id').expect(200);
  expect(body.results.map(({ name }: { name: string }) => name)).toEqual([
    'First',
    'Company',
    'Directory',
  ]);
});
