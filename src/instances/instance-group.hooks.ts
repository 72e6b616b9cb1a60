import { Injectable } from '@nestjs/common';
import { Forbidden, Invalid, type FieldErrors } from '../common/errors/errors.js';
import { listOf } from '../common/records.js';
import { ActiveRunsQuery, assertNoActiveRuns } from '../common/resource/dependents.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { GroupMembers } from './group-members.service.js';
import type { InstanceGroup } from './instance-group.entity.js';
import { DEFAULT_GROUP } from './instance-groups.repository.js';
import { InstancesRepository } from './instances.repository.js';

type Sent = ValuesOf<InstanceGroup>;

const NO_PODS =
  'Container groups are not supported: jobs do not run in pods. Use a group of instances, or an execution environment.';

const NO_POLICY = 'The default instance group has no policy: every instance is in it.';

/** Hooks of instance groups (docs/contract/resources.md#instance-groups). */
@Injectable()
export class InstanceGroupHooks implements ResourceHooks<InstanceGroup> {
  constructor(
    private readonly instances: InstancesRepository,
    private readonly members: GroupMembers,
    private readonly runs: ActiveRunsQuery,
  ) {}

  async prepareCreate(sent: Sent): Promise<void> {
    await this.check(sent);
  }

  async created(): Promise<void> {
    await this.members.changed();
  }

  async updated(): Promise<void> {
    await this.members.changed();
  }

  async prepareUpdate(row: RowOf<InstanceGroup>, sent: Sent): Promise<void> {
    if (row.name === DEFAULT_GROUP) assertDefault(sent);
    await this.check(sent, row);
  }

  async prepareDelete({ id, name }: RowOf<InstanceGroup>): Promise<void> {
    if (name === DEFAULT_GROUP) {
      throw new Forbidden('The default instance group cannot be deleted: every instance is in it.');
    }
    await assertNoActiveRuns(this.runs, ['instance_group_id'], [id]);
  }

  private async check(sent: Sent, row: Partial<RowOf<InstanceGroup>> = {}): Promise<void> {
    const errors = { ...podErrors(sent, row), ...(await this.listErrors(sent)) };
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
  }

  private async listErrors({ policy_instance_list: list }: Sent): Promise<FieldErrors> {
    if (list === undefined) return {};
    const names = listOf(list);
    if (!Array.isArray(list) || !names.every((name) => typeof name === 'string')) {
      return { policy_instance_list: ['Must be a list of names of machines.'] };
    }
    const known = await this.instances.known(list);
    const unknown = list
      .filter((name) => !known.has(name))
      .map((name) => `${name} is not a valid hostname of an existing instance.`);
    const seen = new Set<string>();
    const duplicates = list.filter((name) => seen.size === seen.add(name).size);
    const texts = [
      ...new Set([...unknown, ...duplicates.map((name) => `Duplicate entry ${name}.`)]),
    ];
    return texts.length > 0 ? { policy_instance_list: texts } : {};
  }
}

/** @throws Invalid if the default group would get another name, or a policy, which has no effect */
function assertDefault(sent: Sent): void {
  if ('name' in sent) {
    throw Invalid.field('name', 'default instance group name may not be changed.');
  }
  const { policy_instance_percentage, policy_instance_minimum, policy_instance_list } = sent;
  const policy = { policy_instance_percentage, policy_instance_minimum, policy_instance_list };
  const set = Object.entries(policy).filter(([, value]) => Boolean(value) && !isEmpty(value));
  if (set.length === 0) return;
  throw new Invalid(Object.fromEntries(set.map(([name]) => [name, [NO_POLICY]])));
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Rejects the fields of container groups, unless a client sends the stored value of an older version. */
function podErrors(sent: Sent, row: Partial<RowOf<InstanceGroup>>): FieldErrors {
  const stored: Sent = {
    is_container_group: row.is_container_group,
    credential: row.credential_id,
    pod_spec_override: row.pod_spec_override,
  };
  const refused = Object.keys(stored).filter(
    (name) => Boolean(sent[name]) && sent[name] !== stored[name],
  );
  return Object.fromEntries(refused.map((name) => [name, [NO_PODS]]));
}
