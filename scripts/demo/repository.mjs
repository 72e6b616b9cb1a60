import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const playbook = (version) => `---
- name: Deploy the application
  hosts: all
  gather_facts: false
  tasks:
    - name: Show the version that is checked out
      ansible.builtin.debug:
        msg: "checked out: ${version}"
    - name: Show what the webhook brought
      ansible.builtin.debug:
        msg: "event {{ svc_webhook_event_type | default('none') }} for {{ svc_webhook_event_ref | default('none') }} pushed by {{ svc_webhook_payload.pusher.name | default('nobody') }}"
`;

/** A git repository of one playbook in a temporary folder, with a first commit. */
export async function makeRepository() {
  const folder = await mkdtemp(join(tmpdir(), 'controller-demo-'));
  const git = async (...args) => (await run('git', ['-C', folder, ...args])).stdout.trim();
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.name', 'Demo');
  await git('config', 'user.email', 'demo@example.com');
  const commit = async (version) => {
    await writeFile(join(folder, 'deploy.yml'), playbook(version));
    await git('add', 'deploy.yml');
    await git('commit', '--quiet', '--message', `Set version ${version}`);
    return git('rev-parse', 'HEAD');
  };
  const first = await commit('1.0');
  return {
    url: `file://${folder}`,
    first,
    commit,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
