/**
 * Signed content of projects is verified with real GnuPG: two keys are created, and each test signs and syncs
 * a repository. Only a real signature can show that a wrong one is refused.
 */
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { checkoutRevision, syncProject } from '../../src/execution/runner/git-checkout.js';
import { SIGNATURE_FAILED } from '../../src/runs/run-explanations.js';
import { Signer, SUMS } from '../support/signer.js';
import { sandboxIn } from './sandboxes.js';
import { HERE, TestRepository } from './git-servers.js';
import { createTestFolder, type TestFolder } from './playbooks.js';

const FILES = {
  'MANIFEST.in': '# Content\nprune docs\nrecursive-exclude roles/*/files *.bin\nexclude *.md\n',
  'site.yml': '- hosts: all\n',
  'roles/web/tasks/main.yml': '[]\n',
};

let folder: TestFolder;
let signer: Signer;
let other: Signer;
let count = 0;
beforeAll(async () => {
  folder = await createTestFolder();
  signer = await Signer.create(join(folder.dir, 'a'));
  other = await Signer.create(join(folder.dir, 'b'));
});
afterAll(async () => {
  await signer.end();
  await other.end();
  await folder.remove();
});

/** Returns a repository with signed files, and the function that syncs it. */
async function signed(files: Record<string, string> = FILES) {
  count += 1;
  const origin = await TestRepository.create(join(folder.dir, `origin-${count}`), files);
  await signer.sign(origin.dir, Object.keys(FILES));
  const destination = join(folder.dir, `copy-${count}`);
  const request = {
    sandbox: await sandboxIn(folder.dir),
    publicKey: signer.publicKey,
    destination,
  };
  const sync = async (): Promise<string> => {
    await origin.commit({});
    const { output } = await syncProject({ ...request, url: origin.url, reach: HERE });
    return output;
  };
  return { ...request, origin, sync };
}

it('a signed project is accepted, including excluded files', async () => {
  const excluded = { 'docs/a/index.html': '', 'roles/web/files/app.bin': '', 'README.md': '' };
  const { sync } = await signed({ ...FILES, ...excluded });
  expect(await sync()).toMatch(/^Signature: 3 files are signed by the key [0-9A-F]{40}$/m);
});

type Change = (dir: string) => Promise<unknown>;
const write =
  (path: string, text: string): Change =>
  async (dir) => {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  };
const remove =
  (path: string): Change =>
  (dir) =>
    rm(join(dir, path));
const link =
  (target: string, path: string): Change =>
  async (dir) => {
    await write('docs/vars.yml', 'a: 1')(dir);
    await symlink(target, join(dir, path));
  };

it.each<[string, string, Change]>([
  [
    'without a signature',
    `The project is not signed: ${SUMS}.sig is missing.`,
    remove(`${SUMS}.sig`),
  ],
  ['without checksums', `The project is not signed: ${SUMS} is missing.`, remove(SUMS)],
  [
    'of another key',
    `${SUMS}.sig was made with another key than that of the credential.`,
    (dir) => other.sign(dir, Object.keys(FILES)),
  ],
  [
    'with a text as signature',
    `${SUMS}.sig is not a GPG signature of ${SUMS}.`,
    write(`${SUMS}.sig`, 'x'),
  ],
  ['with other checksums', `${SUMS} was changed after it was signed.`, write(SUMS, '')],
  ['with a changed file', 'site.yml was changed after it was signed.', write('site.yml', '[]')],
  [
    'with an added file',
    `roles/web/files/app.txt is not signed: added without a checksum in ${SUMS}.`,
    write('roles/web/files/app.txt', ''),
  ],
  [
    'with an added file beside the signature',
    `.ansible-sign/site.yml is not signed: added without a checksum in ${SUMS}.`,
    write('.ansible-sign/site.yml', ''),
  ],
  [
    'with an added file whose name ends like an excluded one in another folder',
    `docs.yml, roles/web/tasks/README.md is not signed: added without a checksum in ${SUMS}.`,
    async (dir) => {
      await write('roles/web/tasks/README.md', '')(dir);
      await write('docs.yml', '')(dir);
    },
  ],
  [
    'without a signed file',
    'site.yml is signed, but missing or excluded by MANIFEST.in.',
    remove('site.yml'),
  ],
  [
    'with an unreadable rule',
    'MANIFEST.in: line 1 is not a rule.',
    (dir) => write('MANIFEST.in', 'omit *')(dir).then(() => signer.sign(dir, Object.keys(FILES))),
  ],
  [
    'with a link to an excluded file',
    'vars.yml is not signed: the link leads to files that are not checked.',
    link('docs/vars.yml', 'vars.yml'),
  ],
  [
    'with a link to a folder with excluded files',
    'group_vars is not signed: the link leads to files that are not checked.',
    link('docs', 'group_vars'),
  ],
  [
    'with a link out of the project',
    'vars.yml is not signed: the link leads to files that are not checked.',
    link('/etc/passwd', 'vars.yml'),
  ],
])('a project is refused %s', async (_, message, change) => {
  const { origin, sync } = await signed();
  await change(origin.dir);
  await expect(sync()).rejects.toThrow(new Error(SIGNATURE_FAILED + message));
});

it('a link to verified files is accepted', async () => {
  const { origin, sync } = await signed();
  await symlink('roles/web', join(origin.dir, 'roles/www'));
  expect(await sync()).toContain('Signature: 3 files');
});

it('another revision of the project without a signature is refused', async () => {
  const { origin, sync, destination, ...request } = await signed();
  await sync();
  const head = await origin.git('rev-parse', 'HEAD');
  const checkout = (revision: string) =>
    checkoutRevision({
      ...request,
      revision,
      repository: destination,
      destination: join(folder.dir, `job-${(count += 1)}`),
    });
  expect((await checkout(head)).revision).toBe(head);
  const before = await origin.git('rev-parse', 'HEAD^');
  await expect(checkout(before)).rejects.toThrow(`The project is not signed: ${SUMS} is missing.`);
});
