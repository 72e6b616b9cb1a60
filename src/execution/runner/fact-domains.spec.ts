import { classifyFacts, withoutTemplates } from './fact-domains.js';

const EVIL = '/tmp/x$(id)';

describe('facts', () => {
  it('from setup are shared between projects', () => {
    const facts = {
      ansible_distribution: 'Debian',
      ansible_user_id: 'root',
      ansible_python: { executable: '/usr/bin/python3' },
      ansible_ssh_host_key_rsa_public: 'AAAA',
      ansible_br_0: { device: 'br-0', type: 'bridge' },
      ansible_net_version: '15.2',
      facter_kernel: 'Linux',
      module_setup: true,
    };
    expect(classifyFacts(facts)).toEqual({ shared: facts, own: {} });
  });

  it('from playbooks belong to their project', () => {
    const facts = { site: 'north', packages: { vim: [{ version: '9' }] }, become: 'yes' };
    expect(classifyFacts(facts)).toEqual({ shared: {}, own: facts });
  });

  it.each([
    'ansible_remote_tmp',
    'ansible_user',
    'ansible_python_interpreter',
    'ansible_perl_interpreter',
    'ansible_ssh_executable',
    'ansible_ssh_host_key_checking',
    'ansible_become_exe',
    'ansible_connection',
    'ansible_network_os',
    'ansible_netconf_ssh_config',
    'ansible_option_of_a_plugin_that_comes_next_year',
    '_ansible_tmpdir',
    'discovered_interpreter_python',
    'http_login_user',
    'sops_binary',
    'inventory_hostname',
    'hostvars',
    'groups',
    'environment',
  ])('named %s are left out', (name) => {
    expect(classifyFacts({ [name]: EVIL })).toEqual({ shared: {}, own: {} });
  });

  it('with the name but not the form of an interface are left out', () => {
    const disguised = {
      ansible_remote_tmp: { device: 'remote_tmp', path: EVIL },
      ansible_ssh_executable: { device: 'ssh-executable' },
      ansible_eth0: { device: 'eth1' },
      ansible_uplink: EVIL,
    };
    expect(classifyFacts(disguised)).toEqual({ shared: {}, own: {} });
  });

  it('with a template at any depth are left out for code that evaluates them', () => {
    const plain = { one: 'a {b} %}', two: { three: ['{ {'] } };
    const templates = { four: '{{ x }}', five: [{ six: 'a{% if %}' }], seven: { '{# a #}': 1 } };
    expect(withoutTemplates({ ...plain, ...templates })).toEqual(plain);
  });
});
