import { enabledBy, textAtFirst } from './variable-paths.js';

it('the import reads texts that Ansible marked as unsafe like other texts', () => {
  const variables = {
    id: { __ansible_unsafe: 'i-{{ 1 }}' },
    state: { power: { __ansible_unsafe: 'Running' } },
  };
  expect(textAtFirst(variables, ['uuid', 'id'])).toBe('i-{{ 1 }}');
  const rule = { paths: ['state.power'], ignoresCase: false };
  expect(enabledBy(variables, { ...rule, value: 'running' })).toBe(true);
  expect(enabledBy(variables, { ...rule, value: 'stopped' })).toBe(false);
});
