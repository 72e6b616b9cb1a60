import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { TableRepository } from '../database/table-repository.js';
import type { ExecutionEnvironmentSchema } from './execution-environment.schema.js';

@Injectable()
export class ExecutionEnvironmentsRepository extends TableRepository<
  RowOf<ExecutionEnvironmentSchema>
> {
  constructor(database: Database) {
    super(database, 'execution_environments');
  }
}
