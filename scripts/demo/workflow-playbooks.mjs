const play = (name, tasks) => `---
- name: ${name}
  hosts: all
  gather_facts: false
  tasks:
${tasks}`;

const debug = (name, text) => `    - name: ${name}
      ansible.builtin.debug:
        msg: "${text}"
`;

/** The playbooks of a release, by file. The check of the database fails. */
export const PLAYBOOKS = {
  'build.yml': play(
    'Build the release',
    `    - name: Set the release for later nodes
      ansible.builtin.set_stats:
        data:
          release: "1.0-{{ branch }}"
`,
  ),
  'roll_out.yml': play('Roll out', debug('Deploy', 'rolling out {{ release }} to {{ stage }}')),
  'check_pages.yml': play('Check the pages', debug('Look', 'the pages of {{ release }} are up')),
  'check_database.yml': play(
    'Check the database',
    `    - name: Connect
      ansible.builtin.fail:
        msg: "{{ release }} does not reach its database"
`,
  ),
  'roll_back.yml': play('Roll back', debug('Undo', 'rolling {{ release }} back on {{ stage }}')),
  'celebrate.yml': play('Celebrate', debug('Cheer', '{{ release }} is live')),
  'report.yml': play('Report', debug('Write', 'the result of {{ release }}')),
};
