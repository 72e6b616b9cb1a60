import { Injectable } from '@nestjs/common';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { BadRequest } from '../common/errors/errors.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { type LinkContext, type SubListFactory, subListOf } from '../common/rest/sublist.js';
import { sql } from '../database/sql.js';
import { CredentialsRepository } from '../credentials/credentials.repository.js';
import { InventorySourcesRepository } from './inventory-sources.repository.js';
import { credentialFault } from './source-checks.js';
import { SCM, sourceKind } from './source-kinds.js';

/** Attaches and detaches the credential of a source. */
@Injectable()
export class SourceCredentials {
  constructor(
    private readonly credentials: CredentialsRepository,
    private readonly sources: InventorySourcesRepository,
    private readonly activity: ActivityRecorder,
  ) {}

  /** @param source locked row */
  async attach(source: Row, credential: Row): Promise<void> {
    if (source.credential_id === credential.id) return;
    if (source.credential_id !== null) {
      throw new BadRequest('Source already has credential assigned.');
    }
    const type = await this.credentials.typeOf(credential.id);
    const fault = type ? credentialFault(sourceKind(source.source) ?? SCM, type) : null;
    if (fault !== null) throw new BadRequest(fault);
    await this.store(source, credential, 'associate');
  }

  /** @param source locked row */
  async detach(source: Row, credential: Row): Promise<void> {
    if (source.credential_id !== credential.id) return;
    await this.store(source, credential, 'disassociate');
  }

  private async store(
    source: Row,
    credential: Row,
    operation: 'associate' | 'disassociate',
  ): Promise<void> {
    const stored = operation === 'associate' ? credential.id : null;
    await this.sources.storeCredential(source.id, stored);
    this.activity.record({
      operation,
      object1: refOf(resource('inventory_source'), source),
      object2: refOf(resource('credential'), credential),
      association: 'credentials',
      changes: { id: source.id, credential: credential.id },
    });
  }
}

/** Declares the list with the credential of a source or update. */
export const credentialOf = <Rules>(
  options: Parameters<typeof subListOf<Rules>>[2] = {},
): SubListFactory =>
  subListOf(
    () => resource('credential'),
    ({ credential_id: id }) => sql`t.id = ${id}`,
    options,
  );

type SourceContext = LinkContext<Row, SourceCredentials>;

/** Declares the list with the credential of a source, which POST sets or removes. */
export const credentialOfSource = (): SubListFactory =>
  credentialOf({
    rules: SourceCredentials,
    childNeeds: 'use',
    attach: async (context: SourceContext, child) =>
      context.rules.attach(await lockedSource(context), child),
    detach: async (context: SourceContext, child) =>
      context.rules.detach(await lockedSource(context), child),
  });

const lockedSource = ({ services, parentDefinition, parent, actor }: SourceContext): Promise<Row> =>
  services.resources.lock(parentDefinition, parent, actor);
