import { Invalid } from '../common/errors/errors.js';
import type { ActiveRunsQuery } from '../common/resource/dependents.js';
import type { GroupMembers } from './group-members.service.js';
import { InstanceGroupHooks } from './instance-group.hooks.js';
import type { InstancesRepository } from './instances.repository.js';

it('the check of a long list of instances is fast', async () => {
  const instances = { known: async () => new Set() } as unknown as InstancesRepository;
  const hooks = new InstanceGroupHooks(instances, {} as GroupMembers, {} as ActiveRunsQuery);
  const names = Array.from({ length: 90_000 }, (_one, index) => `instance-${index}`);
  const sent = { policy_instance_list: [...names, 'instance-7'] };
  const startedAt = process.cpuUsage();
  const error: unknown = await hooks.prepareCreate(sent).catch((refusal: unknown) => refusal);
  expect(process.cpuUsage(startedAt).user).toBeLessThan(1_000_000);
  if (!(error instanceof Invalid)) throw error;
  const { policy_instance_list: texts } = error.errors;
  expect(texts).toHaveLength(90_001);
  expect(texts).toContain('Duplicate entry instance-7.');
});
