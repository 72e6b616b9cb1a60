import { isConnectionVariable } from '../../prompts/connection-variables.js';

type Facts = Readonly<Record<string, unknown>>;

/** Facts of one host, grouped by the runs that receive the facts (docs/decisions/0133-facts.md). */
export interface FactDomains {
  /** Facts that `setup` returns, for every run on the inventory. */
  shared: Record<string, unknown>;
  /** Other facts that playbooks cache, for runs of the same project. */
  own: Record<string, unknown>;
}

/**
 * Sorts facts into domains by name. Drops facts that Ansible would read as a variable that controls
 * connections or execution, and names that Ansible sets itself.
 */
export function classifyFacts(facts: Facts): FactDomains {
  const domains: FactDomains = { shared: {}, own: {} };
  for (const [name, value] of Object.entries(facts)) {
    if (isSetupFact(name, value)) domains.shared[name] = value;
    else if (!isConnectionVariable(name) && !isSetByAnsible(name)) domains.own[name] = value;
  }
  return domains;
}

/** Returns the facts without those whose text Jinja would evaluate as a template. */
export const withoutTemplates = (facts: Facts): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(facts).filter(([, value]) => !/\{[{%#]/.test(JSON.stringify(value))),
  );

const isSetupFact = (name: string, value: unknown): boolean =>
  OTHER_NAMES.has(name) ||
  OTHER_PREFIXES.some((prefix) => name.startsWith(prefix)) ||
  (name.startsWith(PREFIX) &&
    (SETUP_NAMES.has(name.slice(PREFIX.length)) || isInterface(name.slice(PREFIX.length), value)));

/**
 * Returns true for a network interface: the fact has the name of its own `device`, and is not a
 * plugin option.
 */
const isInterface = (name: string, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'device' in value &&
  typeof value.device === 'string' &&
  value.device.replaceAll(/[^\w]/g, '_') === name &&
  !PLUGIN_WORDS.has(name.split('_', 1)[0] ?? '');

const isSetByAnsible = (name: string): boolean =>
  MAGIC_NAMES.has(name) || name.startsWith('discovered_interpreter_');

const PREFIX = 'ansible_';

/** Names that `gather_facts` stores without the prefix of facts. */
const OTHER_NAMES = new Set(['gather_subset', 'module_setup']);
/** Prefixes of facts of Facter, Ohai and network devices; no plugin option starts with them. */
const OTHER_PREFIXES = ['facter_', 'ohai_', 'ansible_net_'];

/** First words of plugin options after `ansible_`. Interfaces with these names are dropped. */
const PLUGIN_WORDS = new Set(
  `async aws become buildah check cliconf command common config connection delegated diff dzdo enable
  facts grpc host httpapi incus inventory ioc iocage jail kubectl ksu libssh libvirt local lxc lxd
  machinectl netconf network oc op paramiko parent password pbrun persistent pfexec pipelining play
  playbook pmrun podman docker chroot port private psrp python qubes remote role run runas saltstack scp
  search sesu sftp shell skip socket ssh sshpass su sudo task terminal timeout user verbosity version
  vmware winrm zone`.split(/\s+/),
);

/** Variables that Ansible sets for each host and play. */
const MAGIC_NAMES = new Set(
  `environment group_names groups hostvars inventory_dir inventory_file inventory_hostname
  inventory_hostname_short omit play_hosts playbook_dir role_name role_names role_path role_uuid
  vars`.split(/\s+/),
);

/**
 * Facts of `ansible.builtin.setup`, `ansible.windows.setup` and modules for network devices,
 * without their prefix.
 */
const SETUP_NAMES = new Set(
  `all_ipv4_addresses all_ipv6_addresses apparmor architecture bios_date bios_vendor bios_version
  board_asset_tag board_name board_serial board_vendor board_version chassis_asset_tag
  chassis_serial chassis_vendor chassis_version cmdline date_time default_ipv4 default_ipv6
  device_links devices distribution distribution_file_parsed distribution_file_path
  distribution_file_search_string distribution_file_variety distribution_major_version
  distribution_minor_version distribution_release distribution_version dns domain
  effective_group_id effective_group_ids effective_user_id env fibre_channel_wwn fips
  firmware_version form_factor fqdn hostname hostnqn interfaces ip_addresses is_chroot iscsi_iqn
  kernel kernel_version lastboot loadavg local locally_reachable_ips lpar_info lsb lvm machine
  machine_id major_version memfree_mb memory_mb memtotal_mb model mounts netbios_name
  network_resources nodename os_family os_installation_type os_name os_product_type osrevision
  osversion owner_contact owner_name pagefilefree_mb pagefiletotal_mb pkg_mgr powershell_version
  proc_cmdline processor processor_cores processor_count processor_nproc
  processor_threads_per_core processor_vcpus product_name product_serial product_uuid
  product_version python python_version real_group_id real_user_id reboot_pending selinux
  selinux_python_present service_mgr ssh_host_key_dsa_public ssh_host_key_dsa_public_keytype
  ssh_host_key_ecdsa_public ssh_host_key_ecdsa_public_keytype ssh_host_key_ed25519_public
  ssh_host_key_ed25519_public_keytype ssh_host_key_rsa_public ssh_host_key_rsa_public_keytype
  swap_allocated_mb swap_reserved_mb swapfree_mb swaptotal_mb system system_capabilities
  system_capabilities_enforced system_description system_vendor uptime_seconds user_dir
  user_gecos user_gid user_id user_shell user_sid user_uid userspace_architecture userspace_bits
  vgs virtualization_role virtualization_tech_guest virtualization_tech_host virtualization_type
  win_rm_certificate_expires win_rm_certificate_thumbprint windows_domain windows_domain_member
  windows_domain_role`.split(/\s+/),
);
