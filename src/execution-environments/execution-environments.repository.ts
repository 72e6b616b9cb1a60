import { Injectable } from '@nestjs/common';
import type { RowOf } from '../common/resource/define-resource.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { ExecutionEnvironment } from './execution-environment.entity.js';

@Injectable()
export class ExecutionEnvironmentsRepository extends TableRepository<RowOf<ExecutionEnvironment>> {
  constructor(
    @InjectRepository(ExecutionEnvironment) repository: Repository<ExecutionEnvironment>,
  ) {
    super(repository);
  }
}
