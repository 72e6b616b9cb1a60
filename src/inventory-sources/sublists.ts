import { refOf } from '../common/activity/activity.js';
import { BadRequest } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import type { LinkContext, SubListFactory } from '../common/rest/sublist.js';
import { subListOf, related } from '../common/rest/sublist-kinds.js';
import { sql } from '../database/sql.js';
import { CredentialsRepository } from '../credentials/credentials.repository.js';
import { InventorySourcesRepository } from './inventory-sources.repository.js';
import { credentialFault } from './source-checks.js';
import { SCM, sourceKind } from './source-kinds.js';

const credential = (options: Parameters<typeof subListOf>[2] = {}): SubListFactory =>
  subListOf(
    () => resource('credential'),
    ({ credential_id: id }) => sql`t.id = ${id}`,
    options,
  );

/** Returns the sublist of the credential that an update used. */
export const credentialOfUpdate = (): SubListFactory => credential();

/**
 * Returns the sublist of a source's credential, which has at most one item: attaching sets the
 * credential, detaching clears it.
 */
export const credentialOfSource = (): SubListFactory =>
  credential({
    childNeeds: 'use',
    attach: attachCredential,
    detach: async (context, child) => {
      if (context.parent.credential_id !== child.id) return;
      await store(context, child, null);
    },
  });

async function attachCredential(context: LinkContext, child: Row): Promise<void> {
  const { parent, services } = context;
  if (parent.credential_id === child.id) return;
  if (parent.credential_id !== null) {
    throw new BadRequest('Source already has credential assigned.');
  }
  const type = await services.find(CredentialsRepository).typeOf(child.id);
  const fault = type ? credentialFault(sourceKind(parent.source) ?? SCM, type) : null;
  if (fault !== null) throw new BadRequest(fault);
  await store(context, child, child.id);
}

async function store(
  { services, parent, parentDefinition }: LinkContext,
  child: Row,
  credentialId: number | null,
): Promise<void> {
  await services.find(InventorySourcesRepository).storeCredential(parent.id, credentialId);
  services.activity.record({
    operation: credentialId === null ? 'disassociate' : 'associate',
    object1: refOf(parentDefinition, parent),
    object2: refOf(resource('credential'), child),
    association: 'credentials',
    changes: { id: parent.id, credential: child.id },
  });
}

/** Returns the sublist of the hosts or groups that a source delivered. */
export const broughtBySource = (what: 'hosts' | 'groups'): SubListFactory => related(what);
