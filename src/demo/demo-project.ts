import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const DEMO_PLAYBOOK = 'hello_world.yml';
export const DEMO_FOLDER = 'demo_project';

const HELLO_WORLD = `---
- name: Hello World Sample
  hosts: all
  gather_facts: false
  tasks:
    - name: Hello Message
      ansible.builtin.debug:
        msg: "Hello World!"

    - name: Tell who launched this
      ansible.builtin.debug:
        msg: "Launched by {{ awx_user_name | default('a ' ~ (awx_job_launch_type | default('manual')) ~ ' run') }}"
`;

/** Writes the demo's manual project into the projects folder. */
export async function writeDemoProject(dataFolder: string): Promise<void> {
  const folder = join(dataFolder, 'projects', DEMO_FOLDER);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, DEMO_PLAYBOOK), HELLO_WORLD);
}
