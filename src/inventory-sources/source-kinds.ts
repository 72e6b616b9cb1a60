/** One kind of inventory source, with the start parameters of its plugin. */
export interface SourceKind {
  /** Value of `source`. */
  readonly value: string;
  /** Display name. */
  readonly label: string;
  /** Rule for the credential; null if sources of this kind have no credential. */
  readonly credential: CredentialRule | null;
  /** Plugin; null for files of a project, which Ansible reads directly. */
  readonly plugin: PluginCall | null;
  /** Rule for the enabled state of hosts: paths separated by commas, and the value of enabled hosts. */
  readonly enabled?: { readonly variable: string; readonly value: string };
  /** Paths to the id of a host in the source system, separated by commas. */
  readonly instanceId: string;
  readonly keepsEmptyGroups?: true;
}

export interface CredentialRule {
  /** Namespace of the required credential type; null for any type. */
  readonly namespace: string | null;
  readonly isRequired: boolean;
}

/** Start parameters of a plugin: one YAML file whose name ends as the plugin requires. */
export interface PluginCall {
  readonly fileName: string;
  /** Value of `plugin` in the file. */
  readonly name: string;
  /** Full name with its collection, which is checked before the start; null: built into Ansible. */
  readonly fullName: string | null;
  /**
   * Environment variables of the credential, by the option that they set if the source does not set it.
   * The value of the option is a list of one item.
   */
  readonly credentialOptions?: Readonly<Record<string, string>>;
  /** Further environment variables of `ansible-inventory`. */
  readonly environment?: Readonly<Record<string, string>>;
}

const NATIVE = { ANSIBLE_JINJA2_NATIVE: 'True' };

const requires = (namespace: string): CredentialRule => ({ namespace, isRequired: true });
const accepts = (namespace: string): CredentialRule => ({ namespace, isRequired: false });

/**
 * The plugins, as data (docs/contract/inventory-sources.md#kinds). Plugins have the names of real products,
 * because clients have hard-coded these names. Each plugin requires its collection on the worker.
 */
const PLUGINS: readonly SourceKind[] = [
  {
    value: 'ec2',
    label: 'Amazon EC2',
    credential: accepts('aws'),
    plugin: {
      fileName: 'aws_ec2.yml',
      name: 'aws_ec2',
      fullName: 'amazon.aws.aws_ec2',
      environment: NATIVE,
    },
    enabled: { variable: 'ec2_state', value: 'running' },
    instanceId: 'instance_id',
  },
  {
    value: 'gce',
    label: 'Google Compute Engine',
    credential: requires('gce'),
    plugin: {
      fileName: 'gcp_compute.yml',
      name: 'gcp_compute',
      fullName: 'google.cloud.gcp_compute',
      credentialOptions: { projects: 'GCE_PROJECT' },
      environment: NATIVE,
    },
    enabled: { variable: 'status', value: 'running' },
    instanceId: 'gce_id',
  },
  {
    value: 'azure_rm',
    label: 'Microsoft Azure Resource Manager',
    credential: requires('azure_rm'),
    plugin: {
      fileName: 'azure_rm.yml',
      name: 'azure_rm',
      fullName: 'azure.azcollection.azure_rm',
      environment: NATIVE,
    },
    enabled: { variable: 'powerstate', value: 'running' },
    instanceId: 'id',
  },
  {
    value: 'vmware',
    label: 'VMware vCenter',
    credential: requires('vmware'),
    plugin: {
      fileName: 'vmware_vm_inventory.yml',
      name: 'vmware_vm_inventory',
      fullName: 'community.vmware.vmware_vm_inventory',
    },
    enabled: { variable: 'guest.gueststate', value: 'running' },
    instanceId: 'config.instanceUuid, config.instanceuuid',
  },
  {
    value: 'satellite6',
    label: 'Red Hat Satellite 6',
    credential: requires('satellite6'),
    plugin: {
      fileName: 'foreman.yml',
      name: 'theforeman.foreman.foreman',
      fullName: 'theforeman.foreman.foreman',
    },
    enabled: { variable: 'foreman_enabled,foreman.enabled', value: 'True' },
    instanceId: 'foreman_id,foreman.id',
  },
  {
    value: 'openstack',
    label: 'OpenStack',
    credential: requires('openstack'),
    plugin: {
      fileName: 'openstack.yml',
      name: 'openstack',
      fullName: 'openstack.cloud.openstack',
    },
    enabled: { variable: 'status', value: 'ACTIVE' },
    instanceId: 'openstack.id',
  },
  {
    value: 'rhv',
    label: 'Red Hat Virtualization',
    credential: requires('rhv'),
    plugin: { fileName: 'ovirt.yml', name: 'ovirt.ovirt.ovirt', fullName: 'ovirt.ovirt.ovirt' },
    enabled: { variable: 'status', value: 'up' },
    instanceId: 'id',
  },
  {
    value: 'controller',
    label: 'Automation controller',
    credential: requires('controller'),
    plugin: { fileName: 'tower.yml', name: 'tower', fullName: 'awx.awx.tower' },
    enabled: { variable: 'remote_tower_enabled', value: 'true' },
    instanceId: 'remote_tower_id',
  },
  {
    value: 'insights',
    label: 'Red Hat Insights',
    credential: requires('insights'),
    plugin: {
      fileName: 'insights.yml',
      name: 'redhatinsights.insights.insights',
      fullName: 'redhatinsights.insights.insights',
    },
    instanceId: 'insights_id',
    keepsEmptyGroups: true,
  },
  {
    value: 'terraform',
    label: 'Terraform State',
    credential: requires('terraform'),
    plugin: {
      fileName: 'terraform_state.yml',
      name: 'cloud.terraform.terraform_state',
      fullName: 'cloud.terraform.terraform_state',
      credentialOptions: { backend_config_files: 'TF_BACKEND_CONFIG_FILE' },
    },
    instanceId: 'id',
  },
  {
    value: 'openshift_virtualization',
    label: 'OpenShift Virtualization',
    credential: accepts('kubernetes_bearer_token'),
    plugin: {
      fileName: 'kubevirt.yml',
      name: 'kubevirt.core.kubevirt',
      fullName: 'kubevirt.core.kubevirt',
    },
    instanceId: '',
  },
];

/** Files of a project: any file that Ansible reads as an inventory. */
export const SCM: SourceKind = {
  value: 'scm',
  label: 'Files of a project',
  credential: { namespace: null, isRequired: false },
  plugin: null,
  instanceId: '',
  keepsEmptyGroups: true,
};

/**
 * Other inventories, combined by a built-in plugin of Ansible. Only constructed inventories use
 * this kind.
 */
export const CONSTRUCTED: SourceKind = {
  value: 'constructed',
  label: 'Other inventories (constructed)',
  credential: null,
  plugin: { fileName: 'constructed.yml', name: 'constructed', fullName: null },
  instanceId: 'remote_tower_id',
  keepsEmptyGroups: true,
};

export const SOURCE_KINDS: readonly SourceKind[] = [...PLUGINS, SCM, CONSTRUCTED];

/** Returns the kind of a source; undefined for an unknown value. */
export const sourceKind = (value: unknown): SourceKind | undefined =>
  SOURCE_KINDS.find((kind) => kind.value === value);
