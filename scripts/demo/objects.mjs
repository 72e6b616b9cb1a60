import { until } from './connection.mjs';
import { done, expect, step } from './narrator.mjs';

/** Statuses of ended runs. */
export const FINAL = ['successful', 'failed', 'error', 'canceled'];

export async function createOrganization(api, name) {
  step('An organization');
  const organization = await api.post('/api/v2/organizations/', { name });
  done(`organization ${organization.id}`);
  return organization;
}

export async function syncProject(api, name, organization, repository) {
  step('A project from a git repository, and its sync');
  const project = await api.post('/api/v2/projects/', {
    name,
    organization: organization.id,
    scm_type: 'git',
    scm_url: repository.url,
    allow_override: true,
  });
  const path = `/api/v2/projects/${project.id}/`;
  const synced = await until(
    () => api.get(path, { quiet: true }),
    ({ status }) => FINAL.includes(status),
  );
  expect(synced.status === 'successful', `The sync ended with ${synced.status}.`);
  expect(synced.scm_revision === repository.first, 'The project is not at the first commit.');
  done(`synced at ${synced.scm_revision.slice(0, 12)}`);
  return synced;
}

export async function createInventory(api, name, organization) {
  step('An inventory with one host');
  const inventory = await api.post('/api/v2/inventories/', { name, organization: organization.id });
  await api.post(`/api/v2/inventories/${inventory.id}/hosts/`, {
    name: 'localhost',
    variables: JSON.stringify({
      ansible_connection: 'local',
      ansible_python_interpreter: '{{ ansible_playbook_python }}',
    }),
  });
  done(`inventory ${inventory.id}`);
  return inventory;
}
