import { generateKeyPairSync } from 'node:crypto';

import { SecretBox } from '../../src/common/crypto/secret-box.js';
import { openInputs } from '../../src/credentials/sealed-inputs.js';
import type { CredentialInputs } from '../../src/credentials/types/definition.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { pick } from './browser.js';
import { describeJourney } from './walk.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.orgAdmin });

const KEY = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs1', format: 'pem' })
  .toString()
  .trim();

/** Returns the stored inputs, decrypted. */
async function storedInputs(name: string): Promise<CredentialInputs> {
  const row = await test.database.row<{ id: number; inputs: CredentialInputs }>({
    text: 'SELECT id, inputs FROM credentials WHERE name = $1',
    values: [name],
  });
  if (!row) throw new Error(`There is no credential called ${name}.`);
  return openInputs(test.app.get(SecretBox), row.id, row.inputs);
}

describeJourney('storing a machine key', session, 7, async (walk) => {
  const { page, mark } = walk;
  const name = `Key ${mark}`;
  await page.goto('/api/v2/credentials/');
  await walk.link('Add');
  const choices = page.locator('.choices');
  await choices.getByText('Service A Personal Access Token (GitHub)').waitFor();
  await walk.link('Machine', choices);
  await page.getByLabel('Name *').fill(name);
  await walk.choose(page.getByLabel('Organization'), String(test.home.organization.name));
  await page.getByLabel('Username', { exact: true }).fill('deploy');
  await page.getByLabel('Password', { exact: true }).fill('a word');
  await page.getByLabel('SSH Private Key').fill(KEY);
  await walk.look('credential-form');
  await walk.button('Create credential');
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  const made = await storedInputs(name);
  expect(made).toMatchObject({ username: 'deploy', password: 'a word' });
  expect(String(made.ssh_key_data).trim()).toBe(KEY);
  expect(await page.content()).not.toContain('a word');
  await walk.link('Edit');
  await page.getByLabel('Username', { exact: true }).fill('root');
  await walk.look('credential');
  await walk.button('Save');
  const changed = { ...made, username: 'root' };
  await eventually(async () => expect(await storedInputs(name)).toEqual(changed));
});

describeJourney('adding a credential to a template', session, 2, async (walk) => {
  const { page, mark } = walk;
  const organization = test.home.organization.id;
  const { name } = await test.make.credential({ name: `Login ${mark}`, organization });
  const project = await test.make.project({ organization });
  const template = await test.make.jobTemplate({ project: project.id });
  await page.goto(`/api/v2/job_templates/${template.id}/`);
  await pick(page.getByLabel('Credential', { exact: true }), String(name), walk.hasScripts);
  walk.clicks += 1;
  await walk.button('Add credential');
  await page.getByRole('button', { name: `Remove ${String(name)}` }).waitFor();
  await walk.look('template-credentials');
});
