import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { Database } from '../database/database.js';
import { TableRepository } from '../database/table-repository.js';
import type { ExecutionEnvironment } from './execution-environment.entity.js';

@Injectable()
export class ExecutionEnvironmentsRepository extends TableRepository<RowOf<ExecutionEnvironment>> {
  constructor(database: Database) {
    super(database, 'execution_environments');
  }
}
