import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { StatementBatch } from '../../database/statement-batch.js';
import { RoleStore, type Actor } from '../access.js';
import { DeclaredProviders } from '../declared-providers.service.js';
import type { RepresentContext } from './extension.js';

/** Creates the context for representing rows to a caller. */
@Injectable()
export class RepresentContexts {
  constructor(
    private readonly database: Database,
    private readonly roles: RoleStore,
    private readonly providers: DeclaredProviders,
  ) {}

  /** @param detail true for a single object, false for a list */
  of(actor: Actor, detail: boolean): RepresentContext {
    const { database, roles, providers } = this;
    return { database, batch: new StatementBatch(database), actor, detail, roles, providers };
  }
}
