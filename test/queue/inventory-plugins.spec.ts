/**
 * Budget: 40 s, because ansible-inventory runs a plugin for each kind of source.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';

/** Returns a plugin that creates a host with its source file and its environment as variables. */
const plugin = (name: string, fullName: string): string => `DOCUMENTATION = '''
name: ${name}
short_description: Stands in for the real one
options:
  plugin: {description: Its name, required: true}
'''
import os
from ansible.plugins.inventory import BaseInventoryPlugin

def content(value):
    if not os.path.isfile(value):
        return value
    assert os.stat(value).st_mode & 0o077 == 0
    with open(value) as file:
        return file.read()

class InventoryModule(BaseInventoryPlugin):
    NAME = '${fullName}'

    def parse(self, inventory, loader, path, cache=True):
        super().parse(inventory, loader, path, cache)
        inventory.add_host('seen')
        environment = {name: content(value) for name, value in os.environ.items()}
        self.display.warning('found ' + repr(environment))
        for name, value in {
            'file': os.path.basename(path),
            'config': self._read_config_data(path),
            'environment': environment,
        }.items():
            inventory.set_variable('seen', name, value)
`;

const { privateKey: key } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const login = { host: 'https://there.example', username: 'ada', password: 'word-of-secrecy' };
const account = { username: 'ada', password: 'word-of-secrecy' };

interface Kind {
  source: string;
  namespace: string;
  inputs: object;
  /** Full name of the plugin. */
  fullName: string;
  file: string;
  plugin: string;
  environment: Record<string, unknown>;
  options?: object;
}

/** Environment and source file of each kind's plugin, as clients and the plugins know them. */
const KINDS: Kind[] = [
  {
    ...{ source: 'ec2', namespace: 'aws', file: 'aws_ec2.yml', plugin: 'aws_ec2' },
    inputs: { ...account, security_token: 'token-of-secrecy' },
    fullName: 'amazon.aws.aws_ec2',
    environment: {
      ...{ AWS_ACCESS_KEY_ID: 'ada', AWS_SECRET_ACCESS_KEY: 'word-of-secrecy' },
      ...{ AWS_SECURITY_TOKEN: 'token-of-secrecy', AWS_SESSION_TOKEN: 'token-of-secrecy' },
      ANSIBLE_JINJA2_NATIVE: 'True',
    },
  },
  {
    ...{ source: 'gce', namespace: 'gce', file: 'gcp_compute.yml', plugin: 'gcp_compute' },
    inputs: { username: 'ada@example.org', project: 'shop', ssh_key_data: key },
    fullName: 'google.cloud.gcp_compute',
    environment: {
      ...{ GCP_AUTH_KIND: 'serviceaccount', GCP_PROJECT: 'shop', GCP_ENV_TYPE: 'tower' },
      GCP_SERVICE_ACCOUNT_FILE: expect.stringContaining('"client_email"'),
      ANSIBLE_JINJA2_NATIVE: 'True',
    },
    options: { projects: ['shop'] },
  },
  {
    ...{ source: 'azure_rm', namespace: 'azure_rm', file: 'azure_rm.yml', plugin: 'azure_rm' },
    inputs: { subscription: 's', client: 'c', tenant: 't', secret: 'word-of-secrecy' },
    fullName: 'azure.azcollection.azure_rm',
    environment: {
      ...{ AZURE_SUBSCRIPTION_ID: 's', AZURE_CLIENT_ID: 'c', AZURE_TENANT: 't' },
      ...{ AZURE_SECRET: 'word-of-secrecy', ANSIBLE_JINJA2_NATIVE: 'True' },
    },
  },
  {
    ...{ source: 'vmware', namespace: 'vmware', inputs: login },
    ...{ file: 'vmware_vm_inventory.yml', plugin: 'vmware_vm_inventory' },
    fullName: 'community.vmware.vmware_vm_inventory',
    environment: {
      ...{ VMWARE_HOST: login.host, VMWARE_USER: 'ada', VMWARE_PASSWORD: 'word-of-secrecy' },
      VMWARE_VALIDATE_CERTS: 'True',
    },
  },
  {
    ...{ source: 'satellite6', namespace: 'satellite6', inputs: login, file: 'foreman.yml' },
    ...{ fullName: 'theforeman.foreman.foreman', plugin: 'theforeman.foreman.foreman' },
    environment: {
      ...{ FOREMAN_SERVER: login.host, FOREMAN_USER: 'ada' },
      FOREMAN_PASSWORD: 'word-of-secrecy',
    },
  },
  {
    ...{ source: 'openstack', namespace: 'openstack', file: 'openstack.yml', plugin: 'openstack' },
    inputs: { ...login, project: 'shop' },
    fullName: 'openstack.cloud.openstack',
    environment: { OS_CLIENT_CONFIG_FILE: expect.stringContaining('auth_url') },
  },
  {
    ...{ source: 'rhv', namespace: 'rhv', inputs: login, file: 'ovirt.yml' },
    ...{ fullName: 'ovirt.ovirt.ovirt', plugin: 'ovirt.ovirt.ovirt' },
    environment: {
      ...{ OVIRT_URL: login.host, OVIRT_USERNAME: 'ada', OVIRT_PASSWORD: 'word-of-secrecy' },
      OVIRT_INI_PATH: expect.stringContaining('ovirt_url'),
    },
  },
  {
    ...{ source: 'controller', namespace: 'controller', file: 'tower.yml', plugin: 'tower' },
    inputs: { ...login, verify_ssl: false },
    fullName: 'awx.awx.tower',
    environment: {
      ...{ TOWER_HOST: login.host, TOWER_USERNAME: 'ada', TOWER_PASSWORD: 'word-of-secrecy' },
      ...{ CONTROLLER_HOST: login.host, CONTROLLER_VERIFY_SSL: 'False' },
    },
  },
  {
    ...{ source: 'insights', namespace: 'insights', inputs: account, file: 'insights.yml' },
    fullName: 'redhatinsights.insights.insights',
    plugin: 'redhatinsights.insights.insights',
    environment: { INSIGHTS_USER: 'ada', INSIGHTS_PASSWORD: 'word-of-secrecy' },
  },
  {
    ...{ source: 'terraform', namespace: 'terraform', file: 'terraform_state.yml' },
    inputs: { configuration: 'bucket = "word-of-secrecy"', gce_credentials: '{"a": 1}' },
    fullName: 'cloud.terraform.terraform_state',
    plugin: 'cloud.terraform.terraform_state',
    environment: { GOOGLE_BACKEND_CREDENTIALS: expect.stringContaining('"a"') },
    options: { backend_config_files: [expect.stringContaining('/')] },
  },
  {
    ...{ source: 'openshift_virtualization', namespace: 'kubernetes_bearer_token' },
    inputs: { host: login.host, bearer_token: 'word-of-secrecy', verify_ssl: false },
    ...{ fullName: 'kubevirt.core.kubevirt', plugin: 'kubevirt.core.kubevirt' },
    file: 'kubevirt.yml',
    environment: {
      ...{ K8S_AUTH_HOST: login.host, K8S_AUTH_API_KEY: 'word-of-secrecy' },
      K8S_AUTH_VERIFY_SSL: 'False',
    },
  },
];

/**
 * Fake plugins, which replace those of real clouds, are started by the real `ansible-inventory` of a worker.
 */
describe('an inventory plugin of a cloud', () => {
  let cluster: Cluster;
  let api: ApiCalls;
  let collections: string;

  beforeAll(async () => {
    cluster = await Cluster.start({ concurrency: 4 });
    const home = join(cluster.folder, 'home');
    collections = join(home, '.ansible/collections/ansible_collections');
    for (const { fullName } of KINDS) {
      const [namespace = '', collection = '', name = ''] = fullName.split('.');
      const path = join(collections, namespace, collection, `plugins/inventory/${name}.py`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, plugin(name, fullName));
    }
    api = await ApiCalls.inside(cluster);
    await cluster.worker({ HOME: home });
  });
  afterAll(() => cluster.stop());

  const make = (path: string, fields: object) => api.call('POST', path, fields);

  /** Creates a source in a new inventory, with a new credential. */
  async function sourceOf({ source, namespace, inputs }: Kind, organization = 1): Promise<Row> {
    const name = `${source} ${Math.random()}`;
    const { results } = await api.call('GET', `credential_types/?namespace=${namespace}`);
    const [type] = results as Row[];
    const place = { name, organization };
    const { id } = await make('credentials/', { ...place, credential_type: type?.id, inputs });
    const inventory = await make('inventories/', place);
    return make('inventory_sources/', {
      ...{ name, inventory: inventory.id, source, credential: id },
      source_vars: { plugin: 'other', regions: ['north'], strict: true },
    });
  }

  async function update({ id }: Row, status: string): Promise<Row & { output: string }> {
    const { inventory_update: run } = await make(`inventory_sources/${id}/update/`, {});
    await cluster.becomes(run as number, status, 60_000);
    const path = `inventory_updates/${run}/`;
    const output = await api.text('GET', `${path}stdout/?format=txt`, undefined, 'text/plain');
    return { ...(await api.call('GET', path)), output };
  }

  it.each(KINDS)(
    '$source starts with the required settings',
    async (kind) => {
      const source = await sourceOf(kind);
      const run = await update(source, 'successful');
      const { _meta } = await api.call('GET', `inventories/${source.inventory}/script/?hostvars=1`);
      const { seen } = (_meta as { hostvars: Record<string, Row> }).hostvars;
      expect(seen?.file).toBe(kind.file);
      expect(seen?.config).toEqual({
        ...{ plugin: kind.plugin, regions: ['north'], strict: true },
        ...kind.options,
      });
      expect(seen?.environment).toMatchObject({
        ...kind.environment,
        ...{ ANSIBLE_INVENTORY_ENABLED: 'auto', INVENTORY_UPDATE_ID: String(run.id) },
      });
      expect(run.output).toContain('found {');
      const shown = JSON.stringify(run);
      expect(shown).not.toContain('-of-secrecy');
      expect(shown).not.toContain(key.split('\n')[2]);
    },
    90_000,
  );

  it('fails and stores nothing above the host limit of the organization', async () => {
    const [kind] = KINDS;
    if (!kind) throw new Error('There is no such kind.');
    const { id } = await make('organizations/', { name: 'Small', max_hosts: 1 });
    const full = await make('inventories/', { name: 'Full', organization: id });
    await make(`inventories/${full.id}/hosts/`, { name: 'present' });
    const source = await sourceOf(kind, id as number);
    const path = `inventories/${source.inventory}/`;
    expect(await update(source, 'error')).toMatchObject({
      ...{ job_explanation: 'Host limit for organization exceeded!', failed: true },
      ...{ org_host_limit_error: true, changes: {} },
    });
    expect((await api.call('GET', path)).total_hosts).toBe(0);
    await api.call('PATCH', `organizations/${id}/`, { max_hosts: 2 });
    expect(await update(source, 'successful')).toMatchObject({ org_host_limit_error: false });
    expect((await api.call('GET', path)).total_hosts).toBe(1);
  });

  it('fails and names its collection if it is not installed', async () => {
    const kind = KINDS.find(({ source }) => source === 'insights');
    if (!kind) throw new Error('There is no such kind.');
    const [installed, away] = [join(collections, 'redhatinsights'), join(cluster.folder, 'away')];
    renameSync(installed, away);
    const { job_explanation: why } = await update(await sourceOf(kind), 'failed');
    renameSync(away, installed);
    expect(why).toBe(`The inventory plugin ${kind.fullName} is not installed on this server.`);
  });
});
