import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { WorkflowTemplatesRepository } from './workflow-templates.repository.js';

/** Of all users of advisory locks in this database, whoever nests a workflow in another. */
const NESTING_LOCK = 7_302;

/** Keeps workflows from containing themselves, at any depth. */
@Injectable()
export class Nesting {
  constructor(
    private readonly database: Database,
    private readonly templates: WorkflowTemplatesRepository,
  ) {}

  /**
   * Whether a workflow would contain itself if it had a node that runs `innerId`. Until the end of
   * the transaction nobody else nests anything: two requests must not close a circle together.
   */
  async wouldRecur(outerId: number, innerId: number): Promise<boolean> {
    await this.database.execute(sql`SELECT pg_advisory_xact_lock(${NESTING_LOCK})`);
    return this.templates.wouldContain(outerId, innerId);
  }
}
