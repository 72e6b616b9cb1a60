import { until } from './connection.mjs';
import { FINAL, createOrganization, syncProject } from './objects.mjs';
import { projectFiles, register } from './inventory-files.mjs';
import { done, expect, note, request, step } from './narrator.mjs';
import { createRepository } from './repository.mjs';

const PASSWORD = 'a long password of the demo';

const MACHINES = {
  'web-1': { purpose: 'web', rack: 'a' },
  'web-2': { purpose: 'web', rack: 'b' },
  'db-1': { purpose: 'database', rack: 'a' },
};
/** Machines of the second commit: without web-2, with cache-1. */
const CHANGED = {
  'web-1': MACHINES['web-1'],
  'db-1': MACHINES['db-1'],
  'cache-1': { purpose: 'cache', rack: 'b' },
};

const LOCAL = `ansible_connection: local
ansible_python_interpreter: "{{ ansible_playbook_python }}"
`;

/** Rules for the machines of all input inventories. */
const RULES = `groups:
  critical: purpose == 'database' or inventory_hostname == 'till-1'
keyed_groups:
  - {key: rack, prefix: rack}
`;

/**
 * Shows hosts from a plugin of a project, a constructed inventory of two others, facts, and an ad hoc command
 * of a user.
 */
export async function runInventory(api) {
  const repository = await createRepository(await projectFiles(MACHINES));
  try {
    const name = `fleet ${Date.now()}`;
    const organization = await createOrganization(api, name);
    await allowCollections(api, name, organization);
    const project = await syncProject(api, name, organization, repository);
    const fleet = await createFleet(api, { name, organization, project });
    await firstSync(api, fleet);
    await replaceMachine(api, fleet, repository);
    const all = await createConstructedInventory(api, { name, organization, fleet });
    await survey(api, { name, project, all });
    await filterFacts(api, { name, organization });
    const operator = await createOperator(api, { name, organization, fleet });
    await ping(api, { fleet, operator });
    note('');
    done(`Open the result: ${api.url}/api/v2/inventories/${all.id}/`);
  } finally {
    await repository.remove();
  }
}

/** URL without a server, which proves that collections of the project are installed without a server. */
const NO_SERVER = 'http://127.0.0.1:9/';

async function allowCollections(api, name, organization) {
  step('A Galaxy credential, so that collections of projects are installed');
  const types = await api.get('/api/v2/credential_types/?namespace=galaxy_api_token');
  const { id } = await api.post('/api/v2/credentials/', {
    name: `${name} collections`,
    organization: organization.id,
    credential_type: types.results[0].id,
    inputs: { url: NO_SERVER },
  });
  await api.post(`/api/v2/organizations/${organization.id}/galaxy_credentials/`, { id });
  done('attached; its URL has no server, and none is needed');
}

async function createFleet(api, { name, organization, project }) {
  step('An inventory whose hosts come from a plugin file of the project');
  const inventory = await api.post('/api/v2/inventories/', {
    name: `${name} register`,
    organization: organization.id,
    variables: LOCAL,
  });
  const source = await api.post('/api/v2/inventory_sources/', {
    name,
    inventory: inventory.id,
    source: 'scm',
    source_project: project.id,
    source_path: 'inventory/fleet.yml',
    update_on_launch: true,
    overwrite: true,
  });
  done(`inventory source ${source.id}: ${source.source_path} of project ${project.id}`);
  return { ...inventory, source };
}

async function firstSync(api, fleet) {
  step('The first update: the plugin is in a collection of the project');
  const update = await updateSource(api, fleet.source);
  for (const line of await outputOf(api, update)) if (line.includes('added')) note(line);
  expect(update.changes.hosts.added === 3, `The changes are ${JSON.stringify(update.changes)}.`);
  await expectHosts(api, fleet, ['db-1', 'web-1', 'web-2']);
  const groups = await api.get(`/api/v2/inventories/${fleet.id}/groups/`);
  const names = groups.results.map((one) => one.name).join();
  expect(names === 'database,web', `The groups are ${names}.`);
  done('three hosts in two groups');
}

async function replaceMachine(api, fleet, repository) {
  step('The register replaces a machine; the next update changes the hosts');
  const commit = await repository.commit(register(CHANGED), 'Replace web-2 by cache-1');
  const update = await updateSource(api, fleet.source);
  expect(update.scm_revision === commit, 'The update did not read the new commit.');
  const { added, removed } = update.changes.hosts;
  expect(added === 1 && removed === 1, `The update added ${added} hosts and removed ${removed}.`);
  await expectHosts(api, fleet, ['cache-1', 'db-1', 'web-1']);
  done('web-2 is removed, cache-1 is added');
}

async function createConstructedInventory(api, { name, organization, fleet }) {
  step('A second inventory, and a constructed inventory of both with rules');
  const shop = await api.post('/api/v2/inventories/', {
    name: `${name} shop`,
    organization: organization.id,
    variables: LOCAL,
  });
  await api.post(`/api/v2/inventories/${shop.id}/hosts/`, {
    name: 'till-1',
    variables: 'purpose: sales\nrack: b\n',
  });
  const all = await api.post('/api/v2/constructed_inventories/', {
    name: `${name} all`,
    organization: organization.id,
    source_vars: RULES,
  });
  for (const { id } of [fleet, shop]) {
    await api.post(`/api/v2/inventories/${all.id}/input_inventories/`, { id });
  }
  const { total_hosts: hosts } = await api.get(`/api/v2/inventories/${all.id}/`, { quiet: true });
  expect(hosts === 0, 'The inventory has hosts before its first update.');
  done(`inventory ${all.id}, empty until a job uses it`);
  return all;
}

async function survey(api, { name, project, all }) {
  step('A job on this inventory, with a role of the collection; facts are stored');
  const template = await api.post('/api/v2/job_templates/', {
    name,
    project: project.id,
    inventory: all.id,
    playbook: 'survey.yml',
    use_fact_cache: true,
  });
  const { id } = await api.post(`/api/v2/job_templates/${template.id}/launch/`);
  const job = await waitForEnd(api, `/api/v2/jobs/${id}/`);
  await showDependencies(api, job);
  const messages = (await outputOf(api, job)).filter((line) => line.includes('"msg"'));
  for (const line of messages) note(line.trim());
  expect(messages.length === 4, `${messages.length} hosts printed their facts, not 4.`);
  const script = await api.get(`/api/v2/inventories/${all.id}/script/`);
  const found = Object.keys(script).filter((one) => one !== 'all' && one !== '_meta');
  const expected = ['cache', 'critical', 'database', 'rack_a', 'rack_b', 'web'];
  expect(
    expected.every((one) => found.includes(one)),
    `The groups are ${found.join()}.`,
  );
  const critical = script.critical.hosts.join();
  expect(critical === 'db-1,till-1', `The critical hosts are ${critical}.`);
  done(`groups ${found.join(', ')}; critical: ${critical}`);
}

/** Shows that the job waited for the source of the register and for the constructed inventory. */
async function showDependencies(api, job) {
  const path = `/api/v2/inventory_updates/?launch_type=dependency&finished__gte=${job.created}`;
  const { results } = await api.get(`${path}&order_by=id`);
  for (const one of results) note(`before the job: ${one.name} ${one.status}`);
  const kinds = results.map(({ source }) => source);
  const hasBoth = kinds.includes('scm') && kinds.includes('constructed');
  expect(hasBoth, `Updates before the job: ${kinds.join() || 'none'}.`);
}

async function filterFacts(api, { name, organization }) {
  step('Hosts by the facts of the job, in a list and as a smart inventory');
  const filter = 'ansible_facts__survey__critical=true';
  const query = new URLSearchParams({
    host_filter: filter,
    inventory__organization: String(organization.id),
  });
  const listed = await api.get(`/api/v2/hosts/?${query}`);
  const facts = await api.get(`/api/v2/hosts/${listed.results[0]?.id}/ansible_facts/`);
  note(`${listed.results[0].name}: ${JSON.stringify(facts)}`);
  const smart = await api.post('/api/v2/inventories/', {
    name: `${name} critical`,
    organization: organization.id,
    kind: 'smart',
    host_filter: filter,
  });
  await expectHosts(api, smart, ['db-1', 'till-1']);
  done('the critical hosts, without those of the constructed inventory');
}

/**
 * Creates a user with one role on one inventory and a credential.
 * @returns headers of the user's requests
 */
async function createOperator(api, { name, organization, fleet }) {
  step('A user who may run commands on the register, and nothing else');
  const username = `${name.replaceAll(' ', '-')}-operator`;
  const user = await api.post('/api/v2/users/', { username, password: PASSWORD }, { quiet: true });
  await api.post(`/api/v2/organizations/${organization.id}/users/`, { id: user.id });
  const { summary_fields: summary } = await api.get(fleet.url, { quiet: true });
  const { id } = summary.object_roles.adhoc_role;
  await api.post(`/api/v2/users/${user.id}/roles/`, { id });
  const types = await api.get('/api/v2/credential_types/?kind=ssh', { quiet: true });
  const credential = await api.post('/api/v2/credentials/', {
    name: `${name} machines`,
    user: user.id,
    credential_type: types.results[0].id,
  });
  done(`${username} has the ad hoc role and a credential`);
  const basic = Buffer.from(`${username}:${PASSWORD}`).toString('base64');
  const headers = { Authorization: `Basic ${basic}`, 'Content-Type': 'application/json' };
  return { headers, credential };
}

async function ping(api, { fleet, operator: { headers, credential } }) {
  step('The user pings the machines');
  const send = (path, body) => {
    request('POST', path, body, { Authorization: 'Basic $OPERATOR' });
    return api.send('POST', path, JSON.stringify(body), headers);
  };
  const response = await send('/api/v2/ad_hoc_commands/', {
    inventory: fleet.id,
    credential: credential.id,
    module_name: 'ping',
  });
  expect(response.status === 201, `The command returned ${response.status}: ${response.text}`);
  const command = await waitForEnd(api, response.body.url);
  const pongs = (await outputOf(api, command)).filter((line) => line.includes('SUCCESS'));
  for (const line of pongs) note(line);
  expect(pongs.length === 3, `${pongs.length} machines responded, not 3.`);
  const other = await send(`/api/v2/inventory_sources/${fleet.source.id}/update/`, {});
  expect(other.status === 403, `The user updated the source: ${other.status}.`);
  done('three pongs; the update of the source is refused (403)');
}

async function updateSource(api, source) {
  const { id } = await api.post(`/api/v2/inventory_sources/${source.id}/update/`);
  return waitForEnd(api, `/api/v2/inventory_updates/${id}/`);
}

/** Waits until a run has ended and stored all events. @throws Error unless the run is successful */
async function waitForEnd(api, path) {
  const run = await until(
    () => api.get(path, { quiet: true }),
    ({ status, event_processing_finished: isStored }) => FINAL.includes(status) && isStored,
    { seconds: 180, everyMs: 100 },
  );
  if (run.status !== 'successful') for (const line of await outputOf(api, run)) note(line);
  expect(run.status === 'successful', `${path} ended with ${run.status}. ${run.job_explanation}`);
  return run;
}

async function outputOf(api, run) {
  const path = `${run.related.stdout}?format=txt`;
  const { text } = await api.send('GET', path, undefined, { Authorization: `Bearer ${api.token}` });
  return text.split('\n');
}

async function expectHosts(api, inventory, expected) {
  const { results } = await api.get(`/api/v2/inventories/${inventory.id}/hosts/?order_by=name`);
  const names = results.map((one) => one.name).join(', ');
  expect(names === expected.join(', '), `The hosts are ${names || 'none'}.`);
}
