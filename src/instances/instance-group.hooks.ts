import { Injectable } from '@nestjs/common';
import { Forbidden, Invalid, type FieldErrors } from '../common/errors/errors.js';
import { VariablesError, readVariables } from '../common/fields/variables.js';
import { listOf } from '../common/records.js';
import type { RowOf } from '../common/resource/define-resource.js';
import type { ResourceHooks, ValuesOf } from '../common/rest/hooks.js';
import { CredentialsRepository } from '../credentials/credentials.repository.js';
import { GroupMembers } from './group-members.service.js';
import type { InstanceGroup } from './instance-group.entity.js';
import { CONTAINERIZED, DEFAULT_GROUP } from './instance-groups.repository.js';
import { InstancesRepository } from './instances.repository.js';

type Sent = ValuesOf<InstanceGroup>;

const POLICIES = [
  'policy_instance_percentage',
  'policy_instance_minimum',
  'policy_instance_list',
] as const;

/** Hooks of instance groups (docs/contract/resources.md#instance-groups). */
@Injectable()
export class InstanceGroupHooks implements ResourceHooks<InstanceGroup> {
  constructor(
    private readonly credentials: CredentialsRepository,
    private readonly instances: InstancesRepository,
    private readonly members: GroupMembers,
  ) {}

  async prepareCreate(sent: Sent): Promise<void> {
    await this.check(sent, sent);
  }

  async created(): Promise<void> {
    await this.members.changed();
  }

  async updated(): Promise<void> {
    await this.members.changed();
  }

  async prepareUpdate(row: RowOf<InstanceGroup>, sent: Sent): Promise<void> {
    if (row.name === DEFAULT_GROUP && 'name' in sent) {
      throw Invalid.field('name', 'default instance group name may not be changed.');
    }
    const { is_container_group, policy_instance_list, credential_id: credential } = row;
    const { policy_instance_minimum, policy_instance_percentage } = row;
    const policies = { policy_instance_list, policy_instance_minimum, policy_instance_percentage };
    await this.check({ is_container_group, credential, ...policies, ...sent }, sent);
  }

  async prepareDelete({ name }: RowOf<InstanceGroup>): Promise<void> {
    if (name === DEFAULT_GROUP) {
      throw new Forbidden('The default instance group cannot be deleted: every worker is in it.');
    }
  }

  /** @param whole all values of the row after the request */
  private async check(whole: Sent, sent: Sent): Promise<void> {
    const errors: FieldErrors = {
      ...(await this.credentialErrors(whole, sent)),
      ...(await this.listErrors(sent)),
      ...(whole.is_container_group === true ? podErrors(whole) : {}),
      ...(await templateErrors(sent)),
    };
    if (Object.keys(errors).length > 0) throw new Invalid(errors);
  }

  private async credentialErrors(whole: Sent, { credential }: Sent): Promise<FieldErrors> {
    const isPods = whole.is_container_group === true;
    const isTied = typeof whole.credential === 'number';
    if (isTied && !isPods) {
      return {
        is_container_group: [
          'is_container_group must be True when associating a credential to an Instance Group',
        ],
      };
    }
    if (typeof credential !== 'number') return {};
    const type = await this.credentials.typeOf(credential);
    return type?.kind === 'kubernetes'
      ? {}
      : {
          credential: ['Only Kubernetes credentials can be associated with an Instance Group'],
        };
  }

  private async listErrors({ policy_instance_list: list }: Sent): Promise<FieldErrors> {
    if (list === undefined) return {};
    const names = listOf(list);
    if (!Array.isArray(list) || !names.every((name) => typeof name === 'string')) {
      return { policy_instance_list: ['Must be a list of names of machines.'] };
    }
    const known = await this.instances.known(list);
    const strange = list
      .filter((name) => !known.has(name))
      .map((name) => `${name} is not a valid hostname of an existing instance.`);
    const twice = list.filter((name, at) => list.indexOf(name) !== at);
    const texts = [...new Set([...strange, ...twice.map((name) => `Duplicate entry ${name}.`)])];
    return texts.length > 0 ? { policy_instance_list: texts } : {};
  }
}

/** A container group has no machines of its own. */
const podErrors = (whole: Sent): FieldErrors =>
  Object.fromEntries(
    POLICIES.filter((name) =>
      name === 'policy_instance_list' ? listOf(whole[name]).length > 0 : (whole[name] ?? 0) > 0,
    ).map((name) => [name, [CONTAINERIZED]]),
  );

async function templateErrors({ pod_spec_override: text = '' }: Sent): Promise<FieldErrors> {
  try {
    await readVariables(text);
    return {};
  } catch (error) {
    if (error instanceof VariablesError) return { pod_spec_override: [error.message] };
    throw error;
  }
}
