import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { WorkflowTemplatesRepository } from './workflow-templates.repository.js';

/** Key of the advisory lock on nesting workflows, unique in this database. */
const NESTING_LOCK = 7_302;

/** Prevents workflows from containing themselves, at any depth. */
@Injectable()
export class Nesting {
  constructor(
    private readonly database: Database,
    private readonly templates: WorkflowTemplatesRepository,
  ) {}

  /**
   * Returns true if a workflow would contain itself with a node that runs `innerId`. Locks nesting
   * until the end of the transaction, so that two simultaneous requests cannot create a cycle
   * together.
   */
  async wouldRecur(outerId: number, innerId: number): Promise<boolean> {
    await this.database.execute(sql`SELECT pg_advisory_xact_lock(${NESTING_LOCK})`);
    return this.templates.wouldContain(outerId, innerId);
  }
}
